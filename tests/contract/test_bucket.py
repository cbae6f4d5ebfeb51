"""A bucket takes no answer that a store has not given, or that has not arrived as a whole."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from service.adapters.clock import SystemClock
from service.adapters.results.objects.bucket import Bucket
from service.adapters.results.objects.store_access import StoreAccess
from service.errors.query_errors import ResultStoreDown

TIMEOUT_S = 1.0
IN_TIME_S = 12.0
"""Two attempts of a second each, and what a busy machine takes."""
COUNT = 1000
_HEAD = b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n%s\r\n"
_TAG = b'ETag: "a"\r\n'
_RANGE = b"Content-Range: bytes 0-999/1000\r\n"

CALLS: dict[str, Callable[[Bucket], object]] = {
    "put": lambda bucket: bucket.put(b"some", "a"),
    "get": lambda bucket: bucket.get("a"),
    "range": lambda bucket: bucket.get_range(0, COUNT, "a"),
    "list": lambda bucket: bucket.list("a"),
    "delete": lambda bucket: bucket.delete([("a",)]),
}


@contextmanager
def answering(
    head: bytes, body: bytes, *, pause_s: float = 0.0, stays_open: bool = False
) -> Iterator[Bucket]:
    """Answers each request so, and gives a bucket there. `pause_s` comes after each byte of the body."""
    ended = threading.Event()

    def answer(connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.recv(1 << 16)
            connection.sendall(head)
            for at in range(len(body)):
                connection.sendall(body[at : at + 1])
                if pause_s and ended.wait(pause_s):
                    return
            if stays_open:
                ended.wait()

    def accept(server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=accept, args=(server,), daemon=True).start()
        properties = {
            "s3.endpoint": f"http://127.0.0.1:{server.getsockname()[1]}",
            "s3.access-key-id": "a",
            "s3.secret-access-key": "b",
        }
        access = StoreAccess(bucket="some", prefix="x", timeout_s=TIMEOUT_S, properties=properties)
        try:
            yield Bucket(access, SystemClock())
        finally:
            ended.set()


@pytest.mark.parametrize("call", CALLS)
def test_a_proxy_that_knows_no_store_says_nothing_about_objects(call: str) -> None:
    page = b"<html>default backend</html>"
    with answering(_HEAD % (b"404 Not Found", len(page), b""), page) as bucket:
        with pytest.raises(ResultStoreDown):
            CALLS[call](bucket)
        assert isinstance(bucket.check(), ResultStoreDown)


@pytest.mark.parametrize("call", ["get", "range", "list"])
def test_a_page_instead_of_an_answer_is_none(call: str) -> None:
    page = b"<html>Who are you?</html>"
    with answering(_HEAD % (b"200 OK", len(page), b""), page) as bucket, pytest.raises(ResultStoreDown):
        CALLS[call](bucket)


@pytest.mark.parametrize("call", ["get", "range"])
@pytest.mark.parametrize("stays_open", [False, True])
def test_an_object_that_does_not_arrive_as_a_whole_is_not_gone(call: str, *, stays_open: bool) -> None:
    head = _HEAD % (b"206 Partial Content", COUNT, _TAG + _RANGE)
    begun = time.monotonic()
    with answering(head, b"some", stays_open=stays_open) as bucket, pytest.raises(ResultStoreDown):
        CALLS[call](bucket)
    assert time.monotonic() - begun < IN_TIME_S


@pytest.mark.parametrize("call", ["get", "range"])
def test_bytes_that_arrive_one_by_one_end_in_time(call: str) -> None:
    head = _HEAD % (b"206 Partial Content", COUNT, _TAG + _RANGE)
    begun = time.monotonic()
    with answering(head, bytes(COUNT), pause_s=0.1) as bucket, pytest.raises(ResultStoreDown):
        CALLS[call](bucket)
    assert time.monotonic() - begun < IN_TIME_S
