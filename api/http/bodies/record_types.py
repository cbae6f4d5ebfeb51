"""The content types of bodies that are records alone."""

from __future__ import annotations

from email.message import Message

from starlette.datastructures import Headers
from starlette.types import Scope

from api.http.problems.http_errors import UnsupportedMediaType
from service.model.ingest.record_formats import Compression, RecordFormat

RECORD_TYPES = {
    "application/x-ndjson": RecordFormat.NDJSON,
    "application/jsonl": RecordFormat.NDJSON,
    "text/csv": RecordFormat.CSV,
    "application/vnd.apache.arrow.stream": RecordFormat.ARROW_STREAM,
    "application/vnd.apache.parquet": RecordFormat.PARQUET,
}
_CHARSETS = ("utf-8", "utf8", "us-ascii")
_ENCODINGS = {
    "": Compression.NONE,
    "identity": Compression.NONE,
    "gzip": Compression.GZIP,
    "x-gzip": Compression.GZIP,
    "zstd": Compression.ZSTD,
}


def record_format(scope: Scope) -> RecordFormat | None:
    """Returns the format of a body that is records alone; None for all other requests."""
    if scope["type"] != "http" or (scope["method"], scope["path"]) != ("POST", "/ingest"):
        return None
    content_type = Headers(scope=scope).get("Content-Type", "").split(";")[0].strip().lower()
    return RECORD_TYPES.get(content_type)


def check_charset(scope: Scope) -> None:
    """Checks that text is UTF-8, the only character set that is accepted.

    Raises:
        UnsupportedMediaType: the content type names another one.
    """
    header = Message()
    header["Content-Type"] = Headers(scope=scope).get("Content-Type", "")
    charset = header.get_content_charset("utf-8")
    if charset not in _CHARSETS:
        raise UnsupportedMediaType(f"The character set {charset[:60]!r} is not supported: send UTF-8.")


def compression(scope: Scope) -> Compression:
    """Returns how the body is compressed.

    Raises:
        UnsupportedMediaType: the encoding is not supported.
    """
    encoding = Headers(scope=scope).get("Content-Encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise UnsupportedMediaType(
            f"The content encoding {encoding[:60]!r} is not supported: use gzip or zstd."
        )
    return _ENCODINGS[encoding]
