"""Makes a round of ordered records committable: none of them loses against a stored row, or another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.schema import Schema
from pyiceberg.table import Table

from service.adapters.commits.live_files import data_manifests
from service.adapters.commits.needed_deletes import NeededDeletes, is_unpartitioned
from service.adapters.commits.superseding.asked_keys import (
    ASKED_BYTES,
    column_names,
    defaulted_column,
    head_of,
    keys_for_engine,
    pieces,
    schema_of,
    unreadable_column,
)
from service.adapters.commits.superseding.late_records import late_records
from service.adapters.commits.superseding.ordered_entries import OrderedFiles
from service.adapters.commits.superseding.rewritten_files import without_places
from service.adapters.commits.superseding.without_superseded import WithoutSuperseded
from service.adapters.data_files.metrics.content_files import locations_of
from service.adapters.data_files.writer.file_set import delete_files
from service.adapters.disk.synced_files import Sync
from service.errors.ingest_errors import UpsertNotPossible
from service.errors.unavailable import StorageDown
from service.model.ingest.writing import Committable, WriteResult, WriteTarget
from service.ports.tables.stored_orders import StoredOrders, StoredOrdersQuery


def is_ordered(committable: Committable) -> bool:
    """Returns whether the round's records have an order."""
    return any(result.target.order_field_id is not None for result in committable.write_results)


@dataclass(frozen=True, slots=True)
class LateFilter:
    """Takes late records out of rounds, by what the table holds at the head of the branch.

    A commit must require that this is still the head. About `keys_at_once` keys are in memory at once.
    """

    needed: NeededDeletes
    stored: StoredOrders
    sync: Sync
    keys_at_once: int
    asked_bytes: int = ASKED_BYTES

    def without_late(self, table: Table, committable: Committable) -> WithoutSuperseded:
        """Returns the round without records that lose by their order. The table must accept its files.

        A data file or a delete file with such records is written again without them, and left out if nothing
        remains. The delete of a record that a later one of the round replaces stays: both delete the key.

        Raises:
            WrittenFileMissing, CommittableUnreadable: a file is at fault; the error names it.
            UpsertNotPossible: the engine cannot read the stored rows.
            PartDown: the storage is down, or the stored rows cannot be read now.
        """
        results = committable.write_results
        target = _common_target(table, results)
        files = OrderedFiles.of(table, target, results)
        needed = self._needed(table, committable, files)
        if len(results) == 1 and needed is not None and not needed:
            # Within a result no key is there twice, and no stored row has one of them.
            return WithoutSuperseded(committable)
        find = self._finder(table, committable, target)
        late = late_records(files, find, needed, self.keys_at_once)
        places = iter(range(len(files.files)))
        made: list[WriteResult] = []
        try:
            for result in results:
                keys = _of_files(places, result.delete_files, late.lost_keys)
                rows = _of_files(places, result.data_files, late.lost_rows)
                made.append(without_places(table, result, rows, keys))
            written = _other_files(made, results)
            self.sync(locations_of(written))
        except BaseException as error:
            delete_files(table.io, locations_of(_other_files(made, results)))
            if isinstance(error, OSError):
                raise StorageDown(f"The storage of {committable.key.table} does not accept files.") from error
            raise
        counts = tuple(late.counts.get(number, 0) for number in range(len(results)))
        without = replace(committable, write_results=tuple(made), late_counts=counts if any(counts) else ())
        return WithoutSuperseded(without, written, _other_files(results, made))

    def _needed(self, table: Table, committable: Committable, files: OrderedFiles) -> frozenset[int] | None:
        """Returns the delete files whose keys may have stored rows. None: any."""
        branch = committable.key.branch
        if not is_unpartitioned(table.spec()):
            specs = {manifest.partition_spec_id for manifest in data_manifests(table, branch)}
            if specs - {table.spec().spec_id}:
                # Rows under other specs may have the keys, although these deletes do not reach them.
                return None
        deletes = {file: place for place, (_, file, is_delete) in enumerate(files.files) if is_delete}
        return frozenset(deletes[file] for file in self.needed.of(table, branch, deletes))

    def _finder(
        self, table: Table, committable: Committable, target: WriteTarget
    ) -> Callable[[pa.Table], pa.Table]:
        def find(keys: pa.Table) -> pa.Table:
            found = []
            for start, some in pieces(keys, self.asked_bytes):
                asked = _question(table, committable, target, some)
                if asked is None:
                    return pa.table({"number": pa.array([], pa.int64()), "order": pa.nulls(0)})
                orders = self.stored.of(asked)
                numbers = pc.add(orders.column("number").cast(pa.int64()), start)
                found.append(orders.set_column(orders.schema.get_field_index("number"), "number", numbers))
            return pa.concat_tables(found)

        return find


def _question(
    table: Table, committable: Committable, target: WriteTarget, keys: pa.Table
) -> StoredOrdersQuery | None:
    """Returns None where no stored row can have an order."""
    head = head_of(table, committable.key.branch)
    if head is None:
        return None
    schema = schema_of(table, head)
    assert target.order_field_id is not None
    wanted = {target.order_field_id, *target.equality_field_ids}
    _check_has_no_default(schema, table, wanted)
    [order] = column_names(schema, [target.order_field_id])
    if order is None:
        return None
    ids = target.equality_field_ids
    _check_readable(schema, wanted, str(committable.key.table))
    names = column_names(schema, ids)
    asked = keys_for_engine(keys, [table.schema().find_field(field_id).field_type for field_id in ids])
    has_current_names = names == column_names(table.schema(), ids)
    return StoredOrdersQuery(committable.key, head.snapshot_id, names, order, asked, has_current_names)


def _check_readable(schema: Schema, wanted: Set[int], table: str) -> None:
    """Checks that Spark reads the snapshot: otherwise the round would wait for ever."""
    column = unreadable_column(schema, wanted)
    if column is not None:
        raise UpsertNotPossible(
            f"The newest snapshot of {table} has the column {column}, which Spark cannot read, so the order "
            "of records cannot be compared with its rows. Send them without orderBy."
        )


def _check_has_no_default(schema: Schema, table: Table, wanted: Set[int]) -> None:
    """Checks that no column is missing in the snapshot whose stored values are a default, not NULL."""
    column = defaulted_column(schema, table.schema(), wanted)
    if column is not None:
        raise UpsertNotPossible(
            f"The newest snapshot of {'.'.join(table.name())} is older than its column {column}, which has a "
            "default, so the order of records cannot be compared with its rows. Send them without orderBy, "
            "or append a row first."
        )


def _common_target(table: Table, results: Sequence[WriteResult]) -> WriteTarget:
    """Returns a target with the keys and the order of all results, for the table as it is now."""
    targets = {(result.target.equality_field_ids, result.target.order_field_id) for result in results}
    if len(targets) > 1:
        # The log and the checks of requests keep them apart.
        raise ValueError("records are compared by one order and one key in a round")
    return replace(results[0].target, schema_id=table.schema().schema_id, spec_id=table.spec().spec_id)


def _of_files(
    places: Iterator[int], files: Sequence[str], lost: Mapping[int, pa.Array]
) -> dict[str, pa.Array]:
    numbered = [(file, next(places)) for file in files]
    return {file: pc.unique(lost[place]) for file, place in numbered if place in lost}


def _other_files(results: Sequence[WriteResult], than: Sequence[WriteResult]) -> tuple[str, ...]:
    known = {file for result in than for file in (*result.data_files, *result.delete_files)}
    own = (file for result in results for file in (*result.data_files, *result.delete_files))
    return tuple(file for file in own if file not in known)
