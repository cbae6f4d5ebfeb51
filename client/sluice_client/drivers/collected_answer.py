"""Collects an answer within its bounds, for both drivers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx

from sluice_client.calls import Answer, Request
from sluice_client.errors import AnswerTooLarge, ConnectionFailed, UnexpectedAnswer


class CollectedAnswer:
    """The bytes of one answer, as they come."""

    def __init__(
        self, request: Request, response: httpx.Response, *, now: Callable[[], float], request_s: float
    ) -> None:
        self._status = response.status_code
        self._headers = {name.lower(): value for name, value in response.headers.items()}
        self._max_bytes = request.max_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self._now = now
        self._deadline = now() + request_s
        if self._headers.get("content-encoding", "identity") != "identity":
            # Unpacking could make any number of bytes from a few.
            raise UnexpectedAnswer("the answer is compressed, which was not asked for", status=self._status)
        announced = self._headers.get("content-length", "")
        if announced.isascii() and announced.isdecimal() and int(announced[:20]) > self._max_bytes:
            raise self._too_large()

    def add(self, piece: bytes) -> None:
        """Adds the next bytes.

        Raises:
            AnswerTooLarge: there are more than the request allows.
            ConnectionFailed: they come too slowly.
        """
        self._size += len(piece)
        if self._size > self._max_bytes:
            raise self._too_large()
        if self._now() > self._deadline:
            raise ConnectionFailed("the answer came too slowly, and was not read to its end", was_sent=True)
        self._pieces.append(piece)

    def answer(self) -> Answer:
        """Returns the whole answer."""
        return Answer(self._status, self._headers, b"".join(self._pieces))

    def _too_large(self) -> AnswerTooLarge:
        return AnswerTooLarge(
            f"the answer is larger than {self._max_bytes} bytes: see Bounds", status=self._status
        )


@contextmanager
def translated_errors(base_url: str) -> Iterator[None]:
    """Turns errors of httpx into `ConnectionFailed`.

    Their own texts are shown only where they come from the connection itself: others may show headers.
    """
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError) as error:
        why = str(error) or type(error).__name__
        raise ConnectionFailed(f"there is no connection to {base_url}: {why}", was_sent=False) from None
    except httpx.TimeoutException as error:
        kind = type(error).__name__
        raise ConnectionFailed(f"{base_url} did not answer in time ({kind})", was_sent=True) from None
    except (httpx.TransportError, httpx.StreamError) as error:
        kind = type(error).__name__
        raise ConnectionFailed(f"the connection to {base_url} was lost ({kind})", was_sent=True) from None


def headers_of(request: Request) -> dict[str, str]:
    """Returns the headers of a request, without credentials."""
    headers = {"Accept": request.accept, "Accept-Encoding": "identity", **request.headers}
    body = request.body
    if body is None:
        return headers
    headers["Content-Type"] = body.content_type
    if body.content_encoding is not None:
        headers["Content-Encoding"] = body.content_encoding
    if body.length is not None:
        headers["Content-Length"] = str(body.length)
    return headers
