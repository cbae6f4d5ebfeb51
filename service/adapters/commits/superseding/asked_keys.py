"""Turns the keys of a round into questions about stored rows, which the engine can answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import chain
from uuid import UUID

import pyarrow as pa
from pyiceberg.schema import Schema, index_by_id
from pyiceberg.table import Table
from pyiceberg.table.refs import MAIN_BRANCH
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.types import FixedType, IcebergType, TimestampNanoType, TimestamptzNanoType, TimeType, UUIDType

ASKED_BYTES = 16 * 1024**2
"""How many bytes of keys are sent to the engine at once. It has them as text, and then as rows."""
_UNREADABLE = (TimeType, TimestampNanoType, TimestamptzNanoType)


def head_of(table: Table, branch: str) -> Snapshot | None:
    """Returns the snapshot that a commit to the branch starts from. A new branch starts from `main`."""
    ref = table.metadata.refs.get(branch) or table.metadata.refs.get(MAIN_BRANCH)
    return table.metadata.snapshot_by_id(ref.snapshot_id) if ref else None


def schema_of(table: Table, snapshot: Snapshot) -> Schema:
    """Returns the columns that a snapshot is read with: those of its own time."""
    return table.schema() if snapshot.schema_id is None else table.schemas()[snapshot.schema_id]


def column_names(schema: Schema, field_ids: Sequence[int]) -> tuple[str | None, ...]:
    """Returns the names of columns; None for one that the schema does not have."""
    names = {field.field_id: field.name for field in schema.fields}
    return tuple(names.get(field_id) for field_id in field_ids)


def unreadable_column(schema: Schema, wanted: Set[int]) -> str | None:
    """Returns a column because of which Spark cannot read these columns of a snapshot; None: it can.

    A column may have been added since the records were accepted, or dropped since the snapshot was made.
    """
    times = (
        schema.find_column_name(field_id)
        for field_id, field in index_by_id(schema).items()
        if isinstance(field.field_type, _UNREADABLE)
    )
    names = Counter(field.name.lower() for field in schema.fields)
    alike = (
        field.name for field in schema.fields if field.field_id in wanted and names[field.name.lower()] > 1
    )
    return next(chain(times, alike), None)


def defaulted_column(snapshot: Schema, now: Schema, wanted: Set[int]) -> str | None:
    """Returns a column of these that rows have by default now, and not in the snapshot; None: there is none.

    It was added after the snapshot, which is read without it. All rows have its initial default, not NULL.
    """
    then = {field.field_id for field in snapshot.fields}
    added = (field for field in now.fields if field.field_id in wanted and field.field_id not in then)
    return next((field.name for field in added if field.initial_default is not None), None)


def keys_for_engine(keys: pa.Table, kinds: Sequence[IcebergType]) -> pa.Table:
    """Returns the keys in types that Spark has, with the same values."""
    columns = [_as_engines_have(*pair) for pair in zip(keys.columns, kinds, strict=True)]
    return pa.Table.from_arrays(columns, names=keys.column_names)


def pieces(keys: pa.Table, byte_count: int) -> Iterator[tuple[int, pa.Table]]:
    """Yields the keys in pieces of about so many bytes, each with the number of its first key."""
    count = max(1, -(-keys.nbytes // byte_count))
    length = -(-keys.num_rows // count)
    for start in range(0, keys.num_rows, length):
        yield start, keys.slice(start, length)


def _as_engines_have(column: pa.ChunkedArray, kind: IcebergType) -> pa.ChunkedArray:
    if isinstance(kind, UUIDType):
        texts = [None if value is None else str(UUID(bytes=value)) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])
    return column.cast(pa.binary()) if isinstance(kind, FixedType) else column
