"""Rejects heads that the parser lets through, but that are not allowed."""

from __future__ import annotations

from collections.abc import Sequence

from api.http.problems.http_errors import NotHttp

_VERSIONS = ("1.0", "1.1")


def check_head(version: str, headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Rejects a head that a proxy in front could read as another request than this gateway does.

    The parser itself rejects both length headers together, two of one kind, and folded lines.

    Raises:
        NotHttp: the version is not of HTTP/1; `Host` is missing or occurs twice (RFC 9112, 3.2); the transfer
            coding is not just `chunked`, or is used in HTTP/1.0 (RFC 9112, 6.1).
    """
    if version not in _VERSIONS:
        raise NotHttp(f"HTTP/{version} is not supported: use HTTP/1.1.")
    hosts = sum(name == b"host" for name, _ in headers)
    if hosts > 1 or (hosts == 0 and version == "1.1"):
        raise NotHttp(
            "The request has no header Host." if hosts == 0 else "The request has the header Host twice."
        )
    codings = [value.strip().lower() for name, value in headers if name == b"transfer-encoding"]
    if codings and (codings != [b"chunked"] or version == "1.0"):
        raise NotHttp("The transfer coding is not supported: use chunked, in HTTP/1.1, or Content-Length.")
