"""Chooses the media type and the coding of an answer (RFC 9110, sections 12.5.1 and 12.5.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from api.http.problems.http_errors import NotAcceptable
from api.http.rendering.content_codings import ContentCoding


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


def choose_coding(accept_encoding: str | None) -> ContentCoding:
    """Returns the coding that the caller prefers, zstd before gzip; none unless it names one of them.

    >>> str(choose_coding("gzip, deflate, br, zstd")), str(choose_coding("zstd;q=0, gzip;q=0.5"))
    ('zstd', 'gzip')
    >>> str(choose_coding(None)), str(choose_coding("*"))
    ('identity', 'identity')
    """
    named = dict(_ranges(accept_encoding or ""))
    best = max(ContentCoding.ZSTD, ContentCoding.GZIP, key=lambda coding: named.get(coding, 0.0))
    return best if named.get(best, 0.0) > 0 else ContentCoding.IDENTITY


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
