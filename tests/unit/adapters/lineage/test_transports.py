"""Transports deliver events or report why not, and each call ends in time."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from service.adapters.lineage.transports import FileTransport, HttpTransport, KafkaTransport, NotDelivered
from tests.openlineage.receiver import Receiver, receiver

EVENT = json.dumps({"job": {"name": "j"}}).encode()
WITHIN_S = 10


@contextmanager
def silent_server() -> Iterator[int]:
    """Accepts connections, and never sends anything."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(16)
        yield server.getsockname()[1]


@contextmanager
def ended_within(seconds: float) -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


def refused(transport: HttpTransport | KafkaTransport | FileTransport) -> NotDelivered:
    with closing(transport), ended_within(WITHIN_S), pytest.raises(NotDelivered) as caught:
        transport.send(EVENT, "j")
    return caught.value


def test_a_file_gets_a_line_an_event_also_after_it_was_moved_away(tmp_path: Path) -> None:
    path = tmp_path / "new" / "events.ndjson"
    transport = FileTransport(path)
    transport.send(EVENT, "j")
    transport.send(EVENT, "j")
    path.rename(tmp_path / "old")
    transport.send(EVENT, "j")
    transport.close()
    assert (tmp_path / "old").read_bytes() == (EVENT + b"\n") * 2
    assert path.read_bytes() == EVENT + b"\n"


def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(FileTransport(tmp_path / "file" / "events.ndjson"))


@pytest.fixture
def there() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


def test_events_are_posted_with_the_key_where_the_address_says(there: Receiver) -> None:
    with closing(HttpTransport(there.url, "secret", 5)) as transport:
        transport.send(EVENT, "j")
    with closing(HttpTransport(f"{there.url}/in/here?team=a", None, 5)) as transport:
        transport.send(EVENT, "j")
    assert there.events == [{"job": {"name": "j"}}] * 2
    [(first, head), (second, other)] = there.requests
    assert (first, second) == ("/api/v1/lineage", "/in/here?team=a")
    assert head["Authorization"] == "Bearer secret"
    assert "Authorization" not in other


@pytest.mark.parametrize(
    ("status", "may_try_again"),
    [(500, True), (503, True), (429, True), (400, False), (401, False), (307, False)],
)
def test_what_the_receiver_does_not_take_is_tried_again_only_if_that_may_help(
    there: Receiver, status: int, may_try_again: bool
) -> None:
    there.status = status
    assert refused(HttpTransport(there.url, "secret", 5)).may_try_again is may_try_again
    # Redirects are not followed, as they would forward the key.
    assert len(there.requests) == 1


def test_a_receiver_that_is_silent_costs_no_more_than_its_time() -> None:
    with silent_server() as port:
        assert refused(HttpTransport(f"http://127.0.0.1:{port}", None, 0.3)).may_try_again


def test_a_receiver_that_is_not_there_is_reported_at_once() -> None:
    with silent_server() as port:
        pass
    assert refused(HttpTransport(f"http://127.0.0.1:{port}", None, 5)).may_try_again


def test_a_broker_that_is_silent_or_not_there_costs_no_more_than_its_time() -> None:
    with silent_server() as port:
        refused(KafkaTransport(f"127.0.0.1:{port}", "lineage", {}, 0.5))
    refused(KafkaTransport(f"127.0.0.1:{port}", "lineage", {}, 0.5))
