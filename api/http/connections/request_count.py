"""Counts everything in a request except the content of its body."""

from __future__ import annotations

from api.http.connections.bounds import ConnectionBounds
from api.http.problems.http_errors import HeadersTooLarge, NotHttp, UrlTooLong

_LINE_BYTES = len(": \r\n")
_FIRST_LINE_BYTES = 256
"""The method, the version, and the empty lines that may precede them."""
_FRAMING_BYTES = 64 * 1024
"""How many bytes chunks may take besides their content and sixteen bytes for the line of each."""
_CHUNK_BYTES = 16


class RequestCount:
    """Counts one request's URL, header lines, and the framing of its chunks. Belongs to one connection.

    A head is counted twice: by its parts, which is exact and independent of packets; and by the packets that
    do not end it, so that a part that never ends is bounded too.
    """

    def __init__(self, bounds: ConnectionBounds) -> None:
        self._bounds = bounds
        self.restart()

    def restart(self) -> None:
        """Begins the next request."""
        self.head_bytes = 0
        self._url_bytes = 0
        self._lines = 0
        self._line_bytes = 0
        self._chunks = 0
        self.body_bytes = 0
        self._framed_bytes = 0

    def add_head_packet(self, byte_count: int) -> None:
        """Counts a packet that is entirely in the head.

        Raises:
            HeadersTooLarge: the head does not end within the bounds.
        """
        self.head_bytes += byte_count
        bounds = self._bounds
        if self.head_bytes > bounds.max_url_bytes + bounds.max_header_bytes + _FIRST_LINE_BYTES:
            raise self._headers_too_large()

    def add_url(self, byte_count: int) -> None:
        """Counts a part of the URL.

        Raises:
            UrlTooLong: the URL is longer than allowed with this part.
        """
        self._url_bytes += byte_count
        if self._url_bytes > self._bounds.max_url_bytes:
            raise UrlTooLong(f"The URL is longer than {self._bounds.max_url_bytes} bytes.")

    def add_header(self, name: bytes, value: bytes) -> None:
        """Counts a header or a trailer.

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
        """Counts one more chunk of the body."""
        self._chunks += 1

    def add_body(self, byte_count: int) -> None:
        """Counts a part of the body."""
        self.body_bytes += byte_count

    def add_body_packet(self, byte_count: int) -> None:
        """Counts a packet that is entirely in the body, after its parts were counted.

        Raises:
            NotHttp: the chunks' extensions, or the trailers, are out of all proportion.
        """
        self._framed_bytes += byte_count
        allowed = _FRAMING_BYTES + _CHUNK_BYTES * self._chunks + self.body_bytes
        if self._framed_bytes > allowed:
            raise NotHttp("The body's chunks have more bytes of framing than of content.")

    def _headers_too_large(self) -> HeadersTooLarge:
        return HeadersTooLarge(f"The headers are larger than {self._bounds.max_header_bytes} bytes.")
