"""Counts what a request brings beside its body."""

from __future__ import annotations

from api.http.connections.bounds import ConnectionBounds
from api.http.problems.errors import HeadersTooLarge, NotHttp, UrlTooLong

_LINE_BYTES = len(": \r\n")
_FIRST_LINE_BYTES = 256
"""The method, the version, and the empty lines that may stand before them."""
_FRAMING_BYTES = 64 * 1024
"""What chunks may take beside what they hold, and beside the sixteen bytes that each has for its own line."""
_CHUNK_BYTES = 16


class RequestCount:
    """One request's URL, header lines, and the framing of its chunks. Belongs to one connection.

    A head is counted twice. By its parts, which is exact, and the same however it was cut into packets; and
    by the packets that brought no end of it, so that a single part that never ends is no way around.
    """

    def __init__(self, bounds: ConnectionBounds) -> None:
        self._bounds = bounds
        self.restart()

    def restart(self) -> None:
        """The next request begins."""
        self.head_bytes = 0
        self._url_bytes = 0
        self._lines = 0
        self._line_bytes = 0
        self._chunks = 0
        self.body_bytes = 0
        self._framed_bytes = 0

    def add_head_packet(self, byte_count: int) -> None:
        """A packet that lies in the head as a whole.

        Raises:
            HeadersTooLarge: it does not end within the bounds.
        """
        self.head_bytes += byte_count
        bounds = self._bounds
        if self.head_bytes > bounds.max_url_bytes + bounds.max_header_bytes + _FIRST_LINE_BYTES:
            raise self._headers_too_large()

    def add_url(self, byte_count: int) -> None:
        """A part of the URL.

        Raises:
            UrlTooLong: with this part, it is longer than allowed.
        """
        self._url_bytes += byte_count
        if self._url_bytes > self._bounds.max_url_bytes:
            raise UrlTooLong(f"The URL is longer than {self._bounds.max_url_bytes} bytes.")

    def add_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer.

        Raises:
            HeadersTooLarge: there are too many lines, or too many bytes in them.
        """
        self._lines += 1
        self._line_bytes += len(name) + len(value) + _LINE_BYTES
        if self._lines > self._bounds.max_header_lines:
            raise HeadersTooLarge(f"There are more than {self._bounds.max_header_lines} header lines.")
        if self._line_bytes > self._bounds.max_header_bytes:
            raise self._headers_too_large()

    def add_chunk(self) -> None:
        """The body has one more chunk."""
        self._chunks += 1

    def add_body(self, byte_count: int) -> None:
        """A part of the body."""
        self.body_bytes += byte_count

    def add_body_packet(self, byte_count: int) -> None:
        """A packet that lies in the body as a whole; counted after its parts.

        Raises:
            NotHttp: the chunks' extensions, or the trailers, are out of all proportion.
        """
        self._framed_bytes += byte_count
        allowed = _FRAMING_BYTES + _CHUNK_BYTES * self._chunks + self.body_bytes
        if self._framed_bytes > allowed:
            raise NotHttp("The body's chunks have more around them than in them.")

    def _headers_too_large(self) -> HeadersTooLarge:
        return HeadersTooLarge(f"The headers are larger than {self._bounds.max_header_bytes} bytes.")
