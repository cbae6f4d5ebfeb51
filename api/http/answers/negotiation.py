"""Chooses the media type by the header Accept (RFC 9110, section 12.5.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from api.http.problems.http_errors import NotAcceptable


def choose(accept: str | None, offered: Sequence[str]) -> str:
    """Returns the offered media type that the caller prefers; the first of equals.

    >>> choose("text/*;q=0.5, application/json", ["text/plain", "application/json"])
    'application/json'
    >>> choose(None, ["application/json", "text/plain"])
    'application/json'

    Raises:
        NotAcceptable: the caller takes none of them.
    """
    ranges = list(_ranges(accept or "*/*"))
    best = max(offered, key=lambda media_type: _quality(media_type, ranges))
    if _quality(best, ranges) <= 0:
        raise NotAcceptable(f"Only {', '.join(offered)} can be served here.")
    return best


def _ranges(accept: str) -> Iterator[tuple[str, float]]:
    for part in accept.split(","):
        media, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = next((parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1")
        yield media, float(quality) if quality.replace(".", "", 1).isdecimal() else 1.0


def _quality(media: str, ranges: Sequence[tuple[str, float]]) -> float:
    # The most specific range decides, so that `text/csv;q=0, */*` refuses CSV.
    for candidate in (media, media.split("/")[0] + "/*", "*/*"):
        found = [quality for media_range, quality in ranges if media_range == candidate]
        if found:
            return max(found)
    return 0.0
