"""Tests what is shown while a query runs and its rows are read, and where."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from uuid import UUID

import httpx
import pytest

from sluice_client import Connection, Timeouts, connect
from sluice_client.calls import Answer
from sluice_client.connecting import ConnectOptions
from sluice_client.progress.choose_progress import choose_progress
from sluice_client.progress.notebook import NotebookBar
from sluice_client.progress.rich_line import RichLine
from sluice_client.progress.steps import Progress, Silent, Step, waiting
from sluice_client.progress.terminal import TerminalLine
from sluice_client.query.query_answer import QueryStatus, query_status
from tests.client.gateways import Served
from tests.client.transports import LossyTransport

STEPS = [Step("running for 1 s"), Step("reading 5 rows", 1, 2), Step("[b]reading[/b]", 2, 2)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(progress: Progress) -> None:
    for step in STEPS:
        progress.show(step)
    progress.close()
    progress.close()


def test_a_terminals_line_is_written_over_and_removed() -> None:
    terminal = Terminal()
    shown(TerminalLine(terminal))
    text = terminal.getvalue()
    assert "[##########          ] reading 5 rows" in text
    assert "\n" not in text
    assert text.endswith("\r")
    assert text.rsplit("\r", 2)[1].strip() == ""


def test_a_closed_terminal_fails_nothing() -> None:
    terminal = Terminal()
    progress = TerminalLine(terminal)
    progress.show(STEPS[0])
    terminal.close()
    progress.show(STEPS[1])
    progress.close()


def test_rich_shows_the_same_without_reading_markup() -> None:
    terminal = Terminal()
    shown(RichLine(terminal))
    assert "[b]reading[/b]" in terminal.getvalue()


@pytest.mark.parametrize(
    ("wanted", "is_terminal", "kind"),
    [
        (None, False, Silent),
        (None, True, RichLine),
        (True, False, RichLine),
        (True, True, RichLine),
        (False, True, Silent),
    ],
)
def test_progress_is_shown_on_terminals_or_as_asked(
    wanted: bool | None, is_terminal: bool, kind: type[Progress]
) -> None:
    stream = Terminal() if is_terminal else io.StringIO()
    progress = choose_progress(wanted, stream)()
    progress.close()
    assert isinstance(progress, kind)


class Displays:
    """Takes the place of `IPython.display`, and lists what is displayed."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def HTML(self, text: str) -> str:  # noqa: N802 - IPython names it
        return text

    def display(self, html: str, *, display_id: bool) -> Displays:
        assert display_id
        self.shown.append(html)
        return self

    def update(self, html: str) -> None:
        self.shown.append(html)


def test_a_notebook_has_a_bar_of_its_own() -> None:
    displays = Displays()
    shown(NotebookBar(displays))
    assert displays.shown[1] == '<progress value="1" max="2"></progress> reading 5 rows'
    assert displays.shown[-1] == ""


class ZMQInteractiveShell:
    """Has the name by which a notebook's shell is known."""


class TerminalInteractiveShell:
    """Has the name of IPython's shell in a terminal."""


@pytest.mark.parametrize(
    ("shell", "is_notebook"), [(ZMQInteractiveShell, True), (TerminalInteractiveShell, False)]
)
def test_a_notebook_is_known_by_its_shell(shell: type, is_notebook: bool) -> None:
    modules = {"IPython": SimpleNamespace(get_ipython=shell)}
    chosen = choose_progress(None, io.StringIO(), modules)
    assert (chosen is NotebookBar) == is_notebook


class Recorded:
    """A display that lists its steps."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.is_closed = False

    def show(self, step: Step) -> None:
        self.steps.append(step)

    def close(self) -> None:
        self.is_closed = True


def test_a_query_shows_its_state_and_its_rows(gateway: Served) -> None:
    displays: list[Recorded] = []

    def make() -> Recorded:
        displays.append(Recorded())
        return displays[-1]

    sql = "SELECT range FROM range(5)"
    gateway.queries.unfinished.add(sql)

    def finish(request: httpx.Request, number: int) -> bool:  # noqa: ARG001
        if number == 0:
            [query_id] = gateway.queries.by_id
            gateway.queries.finish(query_id)
        return False

    options: ConnectOptions = {"progress": make, "timeouts": Timeouts(poll_s=0.01)}
    with connect(gateway.url, transport=LossyTransport(finish), **options) as connection:
        connection.query(sql).arrow()
    waited, read = displays
    # This gateway does not say how far the query is.
    assert waited.steps == [Step("running for 0 s")]
    assert [(step.done, step.total) for step in read.steps] == [(1, 3), (2, 3), (3, 3)]
    assert waited.is_closed
    assert read.is_closed


def status(**progress: object) -> QueryStatus:
    body = {
        "queryId": str(UUID(int=1)),
        "status": {"state": "RUNNING", "error": None, "queuedMs": 0, "elapsedMs": 3000} | progress,
        "sentBefore": False,
    }
    answer = Answer(200, {"content-type": "application/json"}, json.dumps(body).encode())
    return query_status(answer, "http://localhost", None)


def test_a_running_query_has_a_bar_if_its_gateway_says_how_far_it_is() -> None:
    assert waiting(status(progress={"phase": "RUNNING", "percent": 42, "scans": []})) == Step(
        "running for 3 s, 42 %", 42, 100
    )


@pytest.mark.parametrize("progress", [None, 7, [], {}, {"percent": None}, {"percent": "9"}, {"percent": 101}])
def test_progress_that_is_not_understood_is_left_out(progress: object) -> None:
    assert waiting(status(progress=progress)) == waiting(status()) == Step("running for 3 s")


def test_nothing_is_written_where_there_is_no_terminal(
    connection: Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    connection.query("SELECT 1").rows()
    assert "SELECT" not in capsys.readouterr().err
