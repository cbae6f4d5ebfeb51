"""Rows that the engine has left in a folder or an object store, as Arrow messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class ResultPlace:
    """The folder where the engine may leave the rows of one query, and the form that they have there.

    `address` is a URI that all executors reach. A batch has at most `batch_rows` rows and about `batch_bytes`
    bytes. A task with no more than `inline_bytes` sends its rows to the driver, unless all tasks together
    would send more than `driver_bytes`.

    An object store is reached by `properties` of Iceberg's `FileIO`. They may be secrets, so its repr omits
    them. A folder needs none.
    """

    address: str
    batch_rows: int
    batch_bytes: int
    inline_bytes: int
    driver_bytes: int
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Batch:
    """One record batch as an encapsulated message at `offset`; `byte_count` counts its rows in Arrow."""

    offset: int
    length: int
    row_count: int
    byte_count: int


@dataclass(frozen=True, slots=True)
class Part:
    """Batches that follow one another in a file; without a name, from the start of the bytes `inline`."""

    batches: tuple[Batch, ...]
    file: str | None = None
    inline: bytes = b""

    @property
    def length(self) -> int:
        """The bytes of all messages."""
        return sum(batch.length for batch in self.batches)


@dataclass(frozen=True, slots=True)
class WrittenRows:
    """The rows of one result, in the order of its parts."""

    schema: pa.Schema
    parts: tuple[Part, ...]

    @property
    def row_count(self) -> int:
        """The number of rows."""
        return sum(batch.row_count for part in self.parts for batch in part.batches)

    @property
    def byte_count(self) -> int:
        """The bytes of the rows in Arrow."""
        return sum(batch.byte_count for part in self.parts for batch in part.batches)
