"""Bounds on the expanded size of a body and the length of its lines, and the count of what is left."""

from __future__ import annotations

from dataclasses import dataclass

from service.errors.ingest_errors import IngestInvalid
from service.model.ingest.record_rest import MAX_REST_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadBounds:
    """The bounds of one body.

    `body_bytes` bounds a whole body, as its rows are when they are written out; `batch_bytes` bounds what is
    in memory at once. `line_bytes` bounds a line of text or a record of CSV, whose values take many times
    that when they are read. `rest_bytes` bounds the text of a record's rest. `has_pages_checked`: pages of
    Parquet are examined one by one before they are read, unless the file is remote.
    """

    body_bytes: int = 2**40
    batch_bytes: int = 512 * 1024**2
    line_bytes: int = 8 * 1024**2
    rest_bytes: int = MAX_REST_BYTES
    has_pages_checked: bool = True


DEFAULT_BOUNDS = ReadBounds()


def unfolds_to_too_much(max_bytes: int) -> IngestInvalid:
    """Returns the error for a body, or a file, whose content is too large."""
    return IngestInvalid(
        f"The body has more than {max_bytes} bytes when it is decompressed, the most that"
        " SLUICE_INGEST_MAX_DECOMPRESSED_BYTES allows, or of files SLUICE_INGEST_SOURCE_MAX_BYTES."
    )


class Room:
    """The remaining bounds while one body is read."""

    def __init__(self, bounds: ReadBounds) -> None:
        self.bounds = bounds
        self._left = bounds.body_bytes

    def check(self, byte_count: int) -> None:
        """Checks that this many more bytes may come.

        Raises:
            IngestInvalid: they may not.
        """
        if byte_count > self._left:
            raise unfolds_to_too_much(self.bounds.body_bytes)

    def take(self, byte_count: int) -> None:
        """Checks that this many more bytes may come, and counts them.

        Raises:
            IngestInvalid: they may not.
        """
        self.check(byte_count)
        self._left -= byte_count

    def check_batch(self, byte_count: int, what: str) -> None:
        """Checks that this many bytes may be in memory at once.

        Raises:
            IngestInvalid: they may not; smaller batches have to be sent.
        """
        if byte_count > self.bounds.batch_bytes:
            raise IngestInvalid(
                f"{what} takes more than {self.bounds.batch_bytes} bytes when it is decompressed, the most "
                "that SLUICE_INGEST_MAX_BATCH_BYTES allows: write smaller ones."
            )
