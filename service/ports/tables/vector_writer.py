"""Deletion vectors: the places of deleted rows in data files, which format version 3 has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from service.model.ingest.writing import TableKey

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class DeletedKeys:
    """Keys whose stored rows are to be deleted.

    `keys` has a column for each of `key_columns`, in their order, and NULL is a value like any other. Columns
    are named as in the snapshot's own schema; None: the snapshot has no such column, so it reads as NULL.
    `has_current_names`: the table names the key columns so now, too.
    """

    key_columns: tuple[str | None, ...]
    keys: pa.Table
    has_current_names: bool = True


@dataclass(frozen=True, slots=True)
class VectorsQuery:
    """Keys to delete from one snapshot of a table, in pieces that are read one after the other.

    No vectors are written for more than `max_rows` rows.
    """

    key: TableKey
    snapshot_id: int
    pieces: Iterable[DeletedKeys]
    max_rows: int


@dataclass(frozen=True, slots=True)
class WrittenVectors:
    """Deletion vectors that belong to no snapshot yet, as Iceberg's JSON of delete files.

    `replaced` are delete files of the snapshot whose rows the vectors delete as well.
    """

    vectors: tuple[str, ...]
    replaced: tuple[str, ...]


class VectorWriter(Protocol):
    """Finds rows by their keys, and writes where they are."""

    def write(self, asked: VectorsQuery) -> WrittenVectors | None:
        """Writes one vector for each data file that has such rows, in bounded time. None: they are too many.

        A vector has the rows that the snapshot's own deletes of positions delete in its file, too.

        Raises:
            PartDown: the engine is down, or could not read or write now; try again later.
        """
