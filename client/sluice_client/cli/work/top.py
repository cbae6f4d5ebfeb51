"""The work of `sluice top`: a live list on a terminal, or one list after the other elsewhere."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sluice_client.calls import Flow
from sluice_client.cli.command_session import Session, open_session
from sluice_client.cli.connection_options import ConnectionOptions
from sluice_client.cli.error_text import error_lines
from sluice_client.cli.formats.table import TableFormat
from sluice_client.cli.output import Output, output_to
from sluice_client.cli.source import Source
from sluice_client.errors import ConnectionFailed, TooBusy, Unavailable
from sluice_client.listing.queries import ListedQuery, list_queries
from sluice_client.query.query_answer import Column

_STATES = ("RUNNING", "QUEUED")
_COLUMNS = (
    Column("query", "STRING", False),
    Column("caller", "STRING", False),
    Column("state", "STRING", False),
    Column("seconds", "DOUBLE", False),
    Column("done", "STRING", True),
    Column("sql", "STRING", False),
)
_TO_OTHER_SCREEN, _FROM_OTHER_SCREEN = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_HOME, _END_OF_LINE, _REST = "\x1b[H", "\x1b[K", "\x1b[J"


def run(
    options: ConnectionOptions, *, is_for_all: bool, is_once: bool, interval_s: float, limit: int
) -> None:
    """Shows the list until Ctrl-C, or once."""
    principal = "*" if is_for_all else None
    with open_session(options) as session, output_to(None) as output:
        if is_once:
            output.text(_lines(session.run(_open_queries(session, principal, limit)), output))
            return
        try:
            with _screen(output):
                while True:
                    output.text([_shown(_look(session, principal, limit, output), output)])
                    output.stream.flush()
                    time.sleep(interval_s)
        except KeyboardInterrupt:
            # The way to end it.
            return


def _look(session: Session, principal: str | None, limit: int, output: Output) -> list[str]:
    now = datetime.now().strftime("%H:%M:%S")
    try:
        found = session.run(_open_queries(session, principal, limit))
    except (ConnectionFailed, TooBusy, Unavailable) as error:
        # A gateway that restarts is there again at a later look.
        return [f"{now}\n", *(f"{line}\n" for line in error_lines(error, Source(""), output.style))]
    running = sum(query.state == "RUNNING" for query in found)
    return [f"{now}, {running} running, {len(found) - running} queued\n", *_lines(found, output)]


def _open_queries(session: Session, principal: str | None, limit: int) -> Flow[list[ListedQuery]]:
    found: list[ListedQuery] = []
    for state in _STATES:
        found += yield from list_queries(session.context, state=state, principal=principal, limit=limit)
    return sorted(found, key=_turn)


def _turn(query: ListedQuery) -> tuple[bool, float]:
    """Those that run come first, and those that wait in the order of their turns, as far as that is known."""
    place = math.inf if query.queue is None else query.queue.position
    return query.state == "QUEUED", place if query.state == "QUEUED" else 0


def _lines(queries: list[ListedQuery], output: Output) -> Iterator[str]:
    table = TableFormat(_COLUMNS, output.style, output.width)
    rows = [
        (
            str(query.query_id),
            query.principal,
            _state(query),
            f"{(query.elapsed_ms + (0 if query.elapsed_ms else query.queued_ms)) / 1000:.1f}",
            None if query.live.percent is None else f"{query.live.percent:.0f} %",
            " ".join(query.sql.split())[:1000],
        )
        for query in queries
    ]
    yield from table.page(rows)


def _state(query: ListedQuery) -> str:
    state, queue = query.state.lower(), query.queue
    if queue is None:
        return state
    if queue.position == 0:
        return f"{state}, being planned"
    wait_ms = queue.estimated_wait_ms
    wait = "" if wait_ms is None else f", about {wait_ms / 1000:,.0f} s"
    return f"{state}, place {queue.position}{wait}"


@contextmanager
def _screen(output: Output) -> Iterator[None]:
    if not output.is_screen:
        yield
        return
    output.text([_TO_OTHER_SCREEN])
    try:
        yield
    finally:
        output.text([_FROM_OTHER_SCREEN])
        output.stream.flush()


def _shown(lines: list[str], output: Output) -> str:
    """Returns the lines; on a terminal, in place of those before, and as many as fit."""
    if not output.is_screen:
        return "".join(lines) + "\n"
    height = shutil.get_terminal_size((80, 24)).lines
    fitting = [line.rstrip("\n") for line in lines[: height - 1]]
    return _HOME + "".join(f"{line}{_END_OF_LINE}\r\n" for line in fitting) + _REST
