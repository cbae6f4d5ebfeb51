"""The checks of lineage receivers by `sluice check` and `sluice doctor`, with real receivers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from api.bootstrap.settings import Settings
from api.cli.part_checks import Finding, State, tried
from api.cli.wiring_checks import lineage_checks
from tests.unit.api.cli.test_doctor import nowhere_to_write

NOBODY = "127.0.0.1:9"


def found(url: str | None, **settings: object) -> list[Finding]:
    given = {"lineage_url": url, "lineage_timeout_s": 1.0, **settings}
    return list(tried(lineage_checks(Settings.model_validate(given))))


class Receiver:
    """Answers each HEAD request with `status`."""

    def __init__(self) -> None:
        self.status = 200
        self.asked: list[tuple[str, str, str | None]] = []
        receiver = self

        class Answering(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                receiver.asked.append((self.command, self.path, self.headers["Authorization"]))
                self.send_response(receiver.status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.05,))
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_without_lineage_nothing_is_tried() -> None:
    assert found(None) == []


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (200, State.OK),
        (405, State.OK),
        (404, State.WARNING),
        (302, State.FAILED),
        (401, State.FAILED),
        (403, State.FAILED),
        (503, State.FAILED),
    ],
)
def test_a_receiver_over_http_is_asked_by_a_head_where_events_are_posted(
    receiver: Receiver, status: int, state: State
) -> None:
    receiver.status = status
    [finding] = found(receiver.url, lineage_api_key="a-secret-key-of-lineage")
    assert (finding.part, finding.state) == ("lineage receiver", state)
    assert receiver.asked == [("HEAD", "/api/v1/lineage", "Bearer a-secret-key-of-lineage")]
    assert "secret" not in finding.text
    assert bool(finding.cure) is (state is not State.OK)


@pytest.mark.parametrize("url", [f"http://{NOBODY}", f"kafka://{NOBODY}/lineage"])
def test_a_receiver_that_is_not_there_is_reported_in_time(url: str) -> None:
    [finding] = found(url)
    assert finding.state is State.FAILED
    assert "does not answer" in finding.text
    assert finding.elapsed_ms < 10_000


def test_a_file_is_written_by_nobody_and_its_folder_is_tried(tmp_path: Path) -> None:
    path = tmp_path / "made later" / "lineage.ndjson"
    [finding] = found(path.as_uri())
    assert finding.state is State.OK
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_fails(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    [finding] = found((tmp_path / "folder").as_uri())
    assert finding.state is State.FAILED
    [finding] = found((nowhere_to_write(tmp_path / "closed") / "lineage.ndjson").as_uri())
    assert finding.state is State.FAILED
