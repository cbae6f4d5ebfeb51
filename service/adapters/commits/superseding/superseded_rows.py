"""Finds the rows of a round that a later upsert of the same round replaces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.table import Table

from service.adapters.commits.superseding.key_columns import KeyColumns
from service.adapters.commits.superseding.read_ahead import read_ahead
from service.adapters.data_files.layout.partitions import group_codes
from service.adapters.data_files.layout.pieces import chunks
from service.model.ingest.writing import WriteResult


def superseded_rows(
    table: Table, results: Sequence[WriteResult], buffered_bytes: int
) -> Mapping[str, pa.Int64Array]:
    """Returns, by data file, the positions of rows whose key is in a later upsert.

    The results are in the order in which they apply. NULL counts as a value, as in equality deletes. At most
    twice `buffered_bytes` of keys are in memory at once, and 16 bytes for each row found.

    Raises:
        WrittenFileMissing, CommittableUnreadable: a file is at fault; the error names it.
        StorageDown: the storage does not return the files.
    """
    found: dict[str, list[pa.Array]] = defaultdict(list)
    for field_ids in dict.fromkeys(
        result.target.equality_field_ids for result in results[1:] if _deletes(result)
    ):
        last = max(index for index, result in enumerate(results) if _has_keys(result, field_ids))
        files = [(index, file) for index, result in enumerate(results[:last]) for file in result.data_files]
        columns = KeyColumns.of(table, field_ids)
        for keys in chunks(_keys(columns, results, field_ids), buffered_bytes):
            for rows in chunks(_rows(columns, files), buffered_bytes):
                for number, positions in _superseded(keys, rows):
                    found[files[number][1]].append(positions)
    return {file: pc.unique(pa.concat_arrays(positions)) for file, positions in found.items()}


def _deletes(result: WriteResult) -> bool:
    return result.target.is_upsert and bool(result.delete_files)


def _has_keys(result: WriteResult, field_ids: tuple[int, ...]) -> bool:
    return _deletes(result) and result.target.equality_field_ids == field_ids


def _keys(
    columns: KeyColumns, results: Sequence[WriteResult], field_ids: tuple[int, ...]
) -> Iterator[pa.RecordBatch]:
    files = [
        (index, file)
        for index, result in enumerate(results)
        if index and _has_keys(result, field_ids)
        for file in result.delete_files
    ]
    for number, batches in read_ahead(columns, [file for _, file in files]):
        for keys in batches:
            yield _batch(keys, by=files[number][0])


def _rows(columns: KeyColumns, files: Sequence[tuple[int, str]]) -> Iterator[pa.RecordBatch]:
    for number, batches in read_ahead(columns, [file for _, file in files]):
        start = 0
        for keys in batches:
            yield _batch(keys, of=files[number][0], number=number, start=start)
            start += len(keys[0])


def _batch(
    keys: Sequence[pa.Array],
    *,
    by: int | None = None,
    of: int | None = None,
    number: int | None = None,
    start: int = 0,
) -> pa.RecordBatch:
    """Keys `by` an upsert, or keys of rows: the write that they are part `of`, and where they are."""
    count = len(keys[0])
    reported = [pa.repeat(pa.scalar(value, pa.int64()), count) for value in (by, of, number)]
    positions = pa.array(range(start, start + count), pa.int64())
    names = [*(f"key_{place}" for place in range(len(keys))), "by", "of", "file", "row"]
    return pa.RecordBatch.from_arrays([*keys, *reported, positions], names=names)


def _superseded(
    keys: Sequence[pa.RecordBatch], rows: Sequence[pa.RecordBatch]
) -> Iterator[tuple[int, pa.Array]]:
    """Yields the number of each file with replaced rows, and their positions in it."""
    both = pa.Table.from_batches([*keys, *rows]).combine_chunks()
    codes = group_codes([_array(column) for column in both.columns[:-4]])
    by = pa.table({"code": codes, "by": both.column("by")}).group_by("code").aggregate([("by", "max")])
    # Every code occurs, so after sorting the position of each is the code itself.
    last = by.sort_by("code").column("by_max").combine_chunks()
    is_superseded = pc.fill_null(pc.less(both.column("of"), last.take(codes)), False)
    places = both.select(["file", "row"]).filter(is_superseded).group_by("file").aggregate([("row", "list")])
    for number, positions in zip(places.column("file").to_pylist(), places.column("row_list"), strict=True):
        yield number, positions.values


def _array(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined
