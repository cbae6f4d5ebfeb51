"""How much a body may unfold to, how long its lines may be, and who keeps count."""

from __future__ import annotations

from dataclasses import dataclass

from service.errors import IngestInvalid


@dataclass(frozen=True, slots=True)
class ReadBounds:
    """`body_bytes`: a whole body, as its rows are when they are written out; `batch_bytes`: at once.

    `line_bytes`: a line of text, or a record of CSV, whose values take many times that when they are read.
    Pages of Parquet are looked at one by one before they are read, unless they are far away.
    """

    body_bytes: int = 2**40
    batch_bytes: int = 512 * 1024**2
    line_bytes: int = 8 * 1024**2
    has_pages_checked: bool = True


DEFAULT_BOUNDS = ReadBounds()


def unfolds_to_too_much(max_bytes: int) -> IngestInvalid:
    """The refusal of a body, or a file, that has more in it than may be read."""
    return IngestInvalid(
        f"The body has more than {max_bytes} bytes when it is decompressed, the most that"
        " SLUICE_INGEST_MAX_DECOMPRESSED_BYTES allows, or of files SLUICE_INGEST_SOURCE_MAX_BYTES."
    )


class Room:
    """What is left of the bounds while one body is read."""

    def __init__(self, bounds: ReadBounds) -> None:
        self.bounds = bounds
        self._left = bounds.body_bytes

    def check(self, byte_count: int) -> None:
        """Returns where so much more may come.

        Raises:
            IngestInvalid: it may not.
        """
        if byte_count > self._left:
            raise unfolds_to_too_much(self.bounds.body_bytes)

    def take(self, byte_count: int) -> None:
        """The same, and it has come.

        Raises:
            IngestInvalid: it may not.
        """
        self.check(byte_count)
        self._left -= byte_count

    def check_batch(self, byte_count: int, what: str) -> None:
        """Returns where so much may be in memory at once.

        Raises:
            IngestInvalid: it may not; send smaller ones.
        """
        if byte_count > self.bounds.batch_bytes:
            raise IngestInvalid(
                f"{what} takes more than {self.bounds.batch_bytes} bytes when it is decompressed, the most "
                "that SLUICE_INGEST_MAX_BATCH_BYTES allows: write smaller ones."
            )
