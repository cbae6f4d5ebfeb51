"""Which bytes of an answer a client asks for (RFC 9110, section 14)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from api.http.problems.http_errors import RangeNotSatisfiable

_ONE_RANGE = re.compile(r"bytes=\s*(\d{0,19})-(\d{0,19})\s*")


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The bytes from `start` until before `stop`."""

    start: int
    stop: int

    def content_range(self, byte_count: int) -> str:
        """Returns the header Content-Range for a part of so many bytes.

        >>> ByteRange(0, 10).content_range(100)
        'bytes 0-9/100'
        """
        return f"bytes {self.start}-{self.stop - 1}/{byte_count}"


def asks_for_part(wanted: str | None, if_range: str | None, tag: str) -> bool:
    """Whether the headers Range and If-Range ask for one range of an answer with this strong ETag.

    >>> asks_for_part("bytes=0-4", None, '"a"'), asks_for_part("bytes=0-4", '"b"', '"a"')
    (True, False)
    """
    return _ONE_RANGE.fullmatch(wanted or "") is not None and _is_of(if_range, tag)


def asked_range(wanted: str | None, if_range: str | None, tag: str, byte_count: int) -> ByteRange | None:
    r"""Returns the range that the headers Range and If-Range ask for; None: all bytes.

    Several ranges at once and other units get all bytes, as the RFC allows. So does an If-Range that is not
    this answer's strong ETag.

    Raises:
        RangeNotSatisfiable: the answer has no byte in the range.

    >>> asked_range("bytes=90-", None, '"a"', 100), asked_range("bytes=-10", '"a"', '"a"', 100)
    (ByteRange(start=90, stop=100), ByteRange(start=90, stop=100))
    >>> asked_range("bytes=0-4, 8-9", None, '"a"', 100), asked_range("bytes=0-4", '"b"', '"a"', 100)
    (None, None)
    """
    found = _ONE_RANGE.fullmatch(wanted or "")
    if found is None or not _is_of(if_range, tag):
        return None
    first, last = found.groups()
    if first:
        start, stop = int(first), min(int(last) + 1, byte_count) if last else byte_count
        if last and int(last) < start:
            # Not a range at all.
            return None
    elif last:
        start, stop = max(0, byte_count - int(last)), byte_count
    else:
        return None
    if start >= stop:
        raise RangeNotSatisfiable(byte_count)
    return ByteRange(start, stop)


def _is_of(if_range: str | None, tag: str) -> bool:
    return if_range is None or if_range.strip() == tag
