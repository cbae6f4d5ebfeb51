"""Finds the records of a round that lose by their order: against stored rows, or against each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from service.adapters.commits.superseding.ordered_entries import FILE, IS_DELETE, OF, ROW, OrderedFiles
from service.adapters.data_files.layout.partitions import group_codes
from service.adapters.data_files.writer.row_keys import ascending_ranks

FindStored = Callable[[pa.Table], pa.Table]
"""Returns `number` and `order` of keys: see the port `StoredOrders`."""


@dataclass(frozen=True, slots=True)
class LateRecords:
    """Places in files, by the place of the file among those of the round, and late records by result.

    `lost_rows` are rows of data files that are not in the table after the round. `lost_keys` are keys of
    delete files whose stored rows stay.
    """

    lost_rows: Mapping[int, pa.Array]
    lost_keys: Mapping[int, pa.Array]
    counts: Mapping[int, int]


def late_records(
    files: OrderedFiles, find_stored: FindStored, needed: frozenset[int] | None, keys_at_once: int
) -> LateRecords:
    """Returns the records that lose.

    The greatest order of a key wins, of several the last one, if no stored row has a greater one. NULL is
    below every value. A record is late if a stored row, or an earlier result of the round, has a
    greater order; one that a later result replaces is not. `needed` are the delete files whose keys may have
    stored rows, by their places; None: all of them. About `keys_at_once` keys of the delete files are in
    memory at once.

    Raises:
        WrittenFileMissing, CommittableUnreadable: a file is at fault; the error names it.
        PartDown: the storage does not return the files, or the stored rows cannot be read now.
    """
    part_count = max(1, -(-files.key_count // keys_at_once))
    lost_rows: dict[int, list[pa.Array]] = defaultdict(list)
    lost_keys: dict[int, list[pa.Array]] = defaultdict(list)
    counts: Counter[int] = Counter()
    for part in range(part_count):
        batches = list(files.entries(part, part_count))
        if not batches:
            continue
        compared = _Compared.of(pa.Table.from_batches(batches).combine_chunks(), find_stored, needed)
        is_delete = compared.entries.column(IS_DELETE)
        compared.note(pc.and_(is_delete, compared.is_below_stored), lost_keys)
        is_lost = pc.or_(compared.is_below_stored, compared.is_replaced)
        compared.note(pc.and_(pc.invert(is_delete), is_lost), lost_rows)
        counts.update(compared.late_counts())
    return LateRecords(_joined(lost_rows), _joined(lost_keys), counts)


@dataclass(frozen=True, slots=True)
class _Compared:
    """Entries with a number for each key, `codes` from 0 on, and ranks in the place of orders."""

    entries: pa.Table
    codes: pa.Array
    ranks: pa.Array
    stored_ranks: pa.Array
    """By code; 0: no stored row has an order."""

    @staticmethod
    def of(entries: pa.Table, find_stored: FindStored, needed: frozenset[int] | None) -> _Compared:
        *keys, order = [_array(column) for column in entries.columns[:-4]]
        codes = group_codes(keys)
        first = _first_of_each(codes)
        stored = pa.nulls(len(first), order.type)
        asked = _asked(entries, codes, len(first), needed)
        if len(asked):
            names = [f"key_{place}" for place in range(len(keys))]
            places = first.take(asked)
            found = find_stored(pa.Table.from_arrays([key.take(places) for key in keys], names=names))
            numbers = asked.take(_array(found.column("number")).cast(pa.int64()))
            values = _array(found.column("order")).cast(order.type)
            stored = values.take(pc.index_in(pa.array(range(len(first)), pa.int64()), value_set=numbers))
        ranks = ascending_ranks(pa.concat_arrays([order, stored]))
        return _Compared(entries, codes, ranks.slice(0, len(order)), ranks.slice(len(order)))

    @property
    def is_below_stored(self) -> pa.Array:
        """Whether a stored row of the entry's key has a greater order."""
        return pc.less(self.ranks, self.stored_ranks.take(self.codes))

    @property
    def is_replaced(self) -> pa.Array:
        """Whether another result of the round wins the entry's key."""
        results = _array(self.entries.column(OF))
        last = _last_of_each(self.codes, self.ranks, results)
        return pc.not_equal(results, results.take(last).take(self.codes))

    def late_counts(self) -> Counter[int]:
        """Returns how many keys of each result are below a stored row, or below an earlier result."""
        results = self.entries.column(OF)
        own = pa.table({"code": self.codes, "of": results, "rank": self.ranks})
        own = own.group_by(["code", "of"]).aggregate([("rank", "max")]).rename_columns(["code", "of", "rank"])
        count = len(self.stored_ranks)
        stored = pa.table(
            {
                "code": pa.array(range(count), pa.int64()),
                "of": pa.repeat(pa.scalar(-1, pa.int64()), count),
                "rank": self.stored_ranks,
            }
        )
        both = pa.concat_tables([stored, own]).combine_chunks()
        both = both.sort_by([("code", "ascending"), ("of", "ascending")]).combine_chunks()
        codes, ranks = _array(both.column("code")), _array(both.column("rank"))
        # The greatest so far among those of the same key: codes grow, and each has its own range.
        width = pa.scalar((pc.max(ranks).as_py() or 0) + 1, pa.int64())
        base = pc.multiply(codes, width)
        greatest = pc.subtract(pc.cumulative_max(pc.add(base, ranks)), base)
        late = _array(both.column("of")).filter(pc.less(ranks, greatest))
        return Counter({pair["values"]: pair["counts"] for pair in pc.value_counts(late).to_pylist()})

    def note(self, is_lost: pa.Array, lost: dict[int, list[pa.Array]]) -> None:
        """Adds the places of these entries to those of their files."""
        found = self.entries.select([FILE, ROW]).filter(is_lost)
        grouped = found.group_by(FILE).aggregate([(ROW, "list")])
        for file, rows in zip(grouped.column(FILE).to_pylist(), grouped.column(f"{ROW}_list"), strict=True):
            lost[file].append(rows.values)


def _asked(entries: pa.Table, codes: pa.Array, count: int, needed: frozenset[int] | None) -> pa.Array:
    """Returns the codes of the keys that may have stored rows, in ascending order."""
    if needed is None:
        return pa.array(range(count), pa.int64())
    files = pa.array(sorted(needed), pa.int64())
    found = pc.unique(codes.filter(pc.is_in(_array(entries.column(FILE)), value_set=files)))
    return found.take(pc.sort_indices(found))


def _first_of_each(codes: pa.Array) -> pa.Array:
    """Returns the place of the first entry of each code, by code."""
    places = pa.table({"code": codes, "place": pa.array(range(len(codes)), pa.int64())})
    first = places.group_by("code").aggregate([("place", "min")]).sort_by("code")
    return _array(first.column("place_min"))


def _last_of_each(codes: pa.Array, ranks: pa.Array, results: pa.Array) -> pa.Array:
    """Returns the place of an entry with the greatest rank of each code, of the last such result, by code."""
    columns = {"code": codes, "rank": ranks, "of": results}
    order = pc.sort_indices(pa.table(columns), sort_keys=[(name, "ascending") for name in columns])
    runs = pc.run_end_encode(codes.take(order), run_end_type=pa.int64())
    return order.take(pc.subtract(runs.run_ends, 1)).cast(pa.int64())


def _joined(lost: Mapping[int, Sequence[pa.Array]]) -> Mapping[int, pa.Array]:
    return {file: pa.concat_arrays(_same(rows)) for file, rows in lost.items()}


def _same(rows: Iterable[pa.Array]) -> list[pa.Array]:
    return [found.cast(pa.int64()) for found in rows]


def _array(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined
