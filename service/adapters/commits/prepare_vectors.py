"""Prepares one snapshot of an upsert into a table of format version 3, which deletes rows by position."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot

from service.adapters.commits.engine_snapshot import engine_snapshot
from service.adapters.commits.needed_deletes import NeededDeletes
from service.adapters.commits.prepare_row_delta import specs_out_of_reach
from service.adapters.commits.snapshot_append import SnapshotAppend
from service.adapters.commits.superseding.asked_keys import (
    ASKED_BYTES,
    column_names,
    defaulted_column,
    head_of,
    keys_for_engine,
    schema_of,
    unreadable_column,
)
from service.adapters.commits.superseding.key_columns import KeyColumns
from service.adapters.data_files.metrics.content_files import equality_ids_of, locations_of
from service.adapters.data_files.writer.file_set import delete_files
from service.adapters.disk.synced_files import Sync
from service.errors.ingest_errors import CommittableUnreadable
from service.model.ingest.writing import Committable
from service.ports.tables.table_changes import RowDeltas
from service.ports.tables.vector_writer import DeletedKeys, VectorsQuery, VectorWriter

# Columns that tell where a row is. A table may have columns of these names, which hide them.
_PLACE = frozenset({"_file", "_pos"})
_BAD_DESCRIPTION = (ValueError, LookupError, TypeError)


@dataclass(frozen=True, slots=True)
class Vectors:
    """Writes the deletion vectors of rounds, of at most `max_rows` rows each."""

    writer: VectorWriter
    needed: NeededDeletes
    max_rows: int


def prepare_vectors(
    table: Table,
    committable: Committable,
    vectors: Vectors,
    row_deltas: RowDeltas,
    prepare_append: Callable[[], SnapshotAppend],
    sync: Sync,
) -> SnapshotAppend | None:
    """Prepares the snapshot, without the delete files of the round. None: only these can delete the rows.

    Keys are looked up in the head of the branch, of all partition specs; the commit requires that it is still
    the head. If no row has one of the keys, the snapshot is an append, which `prepare_append` prepares.

    Raises:
        CommitFailedException: the table has changed in the meantime.
        CommittableUnreadable, WrittenFileMissing: a file of the round is at fault; the error names it.
        PartDown: the storage is down, or the engine.
    """
    sent = [file for result in committable.write_results for file in result.delete_files]
    head = head_of(table, committable.key.branch)
    by_key = _by_key(_needed(table, committable, vectors.needed, sent))
    if head is None or not by_key:
        return prepare_append().leaving_out(sent)
    if not all(_can_be_found(table, head, ids) for ids in by_key):
        return None
    asked = VectorsQuery(committable.key, head.snapshot_id, _pieces(table, head, by_key), vectors.max_rows)
    written = vectors.writer.write(asked)
    if written is None:
        return None
    if not written.vectors:
        return prepare_append().leaving_out(sent)
    try:
        prepared = engine_snapshot(
            table, committable, row_deltas, sync, own=written.vectors, replaced=written.replaced
        )
    except BaseException:
        delete_files(table.io, dict.fromkeys(locations_of(written.vectors)))
        raise
    return prepared.leaving_out(sent)


def _needed(table: Table, committable: Committable, needed: NeededDeletes, sent: Sequence[str]) -> list[str]:
    branch = committable.key.branch
    # Rows under other specs may have the keys, although these deletes would not reach them.
    return list(sent) if specs_out_of_reach(table, branch) else needed.of(table, branch, sent)


def _by_key(files: Sequence[str]) -> Mapping[tuple[int, ...], list[str]]:
    found: dict[tuple[int, ...], list[str]] = {}
    for file in files:
        try:
            found.setdefault(equality_ids_of(file), []).append(file)
        except _BAD_DESCRIPTION as error:
            raise CommittableUnreadable(data_files=[file]) from error
    return found


def _can_be_found(table: Table, head: Snapshot, ids: tuple[int, ...]) -> bool:
    schema = schema_of(table, head)
    names = {field.name.lower() for field in schema.fields}
    return (
        not names & _PLACE
        and unreadable_column(schema, set(ids)) is None
        and defaulted_column(schema, table.schema(), set(ids)) is None
    )


def _pieces(
    table: Table, head: Snapshot, by_key: Mapping[tuple[int, ...], Sequence[str]]
) -> Iterator[DeletedKeys]:
    schema = schema_of(table, head)
    for ids, files in by_key.items():
        names = column_names(schema, ids)
        has_current_names = names == column_names(table.schema(), ids)
        kinds = [table.schema().find_field(field_id).field_type for field_id in ids]
        for keys in _keys(KeyColumns.of(table, ids), files):
            yield DeletedKeys(names, keys_for_engine(keys, kinds), has_current_names)


def _keys(columns: KeyColumns, files: Sequence[str]) -> Iterator[pa.Table]:
    """Yields the keys of these delete files, about so many at once as the engine takes."""
    names = [f"key_{place}" for place in range(len(columns.kinds))]
    waiting: list[pa.Table] = []
    waiting_bytes = 0
    for file in files:
        for batch in columns.batches(file):
            waiting.append(pa.Table.from_arrays(batch, names=names))
            waiting_bytes += waiting[-1].nbytes
            if waiting_bytes >= ASKED_BYTES:
                yield pa.concat_tables(waiting)
                waiting, waiting_bytes = [], 0
    if waiting:
        yield pa.concat_tables(waiting)
