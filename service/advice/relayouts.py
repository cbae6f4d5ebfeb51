"""Other layouts of the same rows: sorted, partitioned, split, or packed into larger files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from service.advice.chunks import Chunks, ColumnBounds, joined
from service.advice.coded_layout import CodedLayout
from service.advice.value_codes import NO_CODE, Codes

ROWS_OF_A_CHUNK = 20
"""With fewer sampled rows in a file, their bounds would say little about those of the file."""

_HIGHEST = np.iinfo(np.int64).max

Places = npt.NDArray[np.int64]


def sorted_layout(coded: CodedLayout, columns: Sequence[str], file_bytes: int) -> Chunks:
    """Returns the layout after each partition was sorted by these columns, the first one above all."""
    parts = []
    for places in _groups(coded.sample.partitions):
        keys = [coded.sample.columns[column][places] for column in reversed(columns)]
        parts.append(_cut(coded, places[np.lexsort(keys)], file_bytes, columns[0]))
    return joined(parts)


def partitioned_layout(coded: CodedLayout, keys: Places, column: str) -> Chunks:
    """Returns the layout with one more partition field, made of the column. `keys` are its values by row.

    Files of a partition are taken to have no order.
    """
    parts = []
    for places in _groups(coded.sample.partitions):
        in_order = places[np.argsort(keys[places], kind="stable")]
        changes = np.flatnonzero(np.diff(keys[in_order])) + 1
        starts = np.concatenate([[0], changes])
        parts.append(_chunks(coded, in_order, starts, column, is_partition=True))
    return joined(parts)


def split_layout(coded: CodedLayout, file_bytes: int) -> Chunks:
    """Returns the layout with large files cut into smaller ones, the order of rows as it is.

    Files without sampled rows stay whole.
    """
    sample, sizes, lengths = coded.sample, coded.chunks.byte_counts, coded.chunks.row_counts
    is_cut = np.zeros(len(sizes), np.bool_)
    parts: list[Chunks] = []
    numbers: list[int] = []
    for places in _groups(sample.file_numbers):
        file_number = int(sample.file_numbers[places[0]])
        count = _count(float(sizes[file_number]), len(places), file_bytes)
        if count > 1:
            is_cut[file_number] = True
            starts = (np.arange(count) * len(places)) // count
            part = _chunks(coded, places, starts, None)
            numbers += [file_number] * count
            parts.append(
                Chunks(
                    np.full(count, sizes[file_number] / count),
                    np.full(count, lengths[file_number] / count),
                    part.bounds,
                )
            )
    [whole] = np.nonzero(~is_cut)
    # In the order of files, as their rows are.
    order = np.argsort(np.concatenate([whole, np.array(numbers, np.int64)]), kind="stable")
    return joined([coded.chunks.taken(whole), *parts]).taken(order)


def bundles_of_files(coded: CodedLayout, small_bytes: int, file_bytes: int) -> list[list[int]]:
    """Returns which files are put together: those below `small_bytes` of each partition."""
    sizes = coded.chunks.byte_counts
    bundles: list[list[int]] = []
    open_bundles: dict[int, tuple[list[int], float]] = {}
    for place, (size, partition) in enumerate(zip(sizes, coded.partitions, strict=True)):
        if size >= small_bytes:
            bundles.append([place])
            continue
        bundle, filled = open_bundles.get(int(partition), ([], 0.0))
        if bundle and filled + size > file_bytes:
            bundle, filled = [], 0.0
        if not bundle:
            bundles.append(bundle)
        bundle.append(place)
        open_bundles[int(partition)] = (bundle, filled + float(size))
    return bundles


def packed_layout(coded: CodedLayout, bundles: Sequence[Sequence[int]]) -> Chunks:
    """Returns the layout after the files of each bundle were put together."""
    chunks = coded.chunks
    order = np.array([place for bundle in bundles for place in bundle], np.int64)
    starts = np.cumsum([0, *(len(bundle) for bundle in bundles[:-1])])
    bounds = {}
    for column, found in chunks.bounds.items():
        lower, upper = found.lower[order].copy(), found.upper[order].copy()
        is_empty = lower > upper
        lower[is_empty], upper[is_empty] = _HIGHEST, NO_CODE
        bounds[column] = ColumnBounds(np.minimum.reduceat(lower, starts), np.maximum.reduceat(upper, starts))
    return Chunks(
        np.add.reduceat(chunks.byte_counts[order], starts),
        np.add.reduceat(chunks.row_counts[order], starts),
        bounds,
    )


def _groups(numbers: npt.NDArray[np.int64]) -> Iterator[Places]:
    """Yields, for each number, the places that have it, in their order."""
    in_order = np.argsort(numbers, kind="stable")
    yield from np.split(in_order, np.flatnonzero(np.diff(numbers[in_order])) + 1)


def _count(byte_count: float, row_count: int, file_bytes: int) -> int:
    return max(1, min(round(byte_count / file_bytes), row_count // ROWS_OF_A_CHUNK))


def _cut(coded: CodedLayout, places: Places, file_bytes: int, column: str) -> Chunks:
    """Cuts sorted rows into files of equal size."""
    ends = np.cumsum(coded.sample.byte_counts[places])
    count = _count(float(ends[-1]), len(places), file_bytes)
    starts = np.searchsorted(ends, ends[-1] * np.arange(count) / count, side="right")
    return _chunks(coded, places, np.unique(starts), column)


def _chunks(
    coded: CodedLayout, places: Places, starts: Places, column: str | None, *, is_partition: bool = False
) -> Chunks:
    """Returns one chunk for the rows from each start to the next one.

    `column` is the one that the rows are in order of; a partition says its value as a whole.
    """
    starts = starts.astype(np.int64)
    sample = coded.sample
    bounds = {
        name: _bounds(sample.lower[name][places], sample.upper[name][places], starts)
        for name in sample.columns
    }
    if column is not None and is_partition:
        bounds[column] = _bounds(sample.columns[column][places], sample.columns[column][places], starts)
    if column is not None:
        files = np.unique(coded.sample.file_numbers[places])
        bounds[column] = _without_gaps(bounds[column], coded.chunks.bounds[column], files)
    return Chunks(
        np.add.reduceat(sample.byte_counts[places], starts),
        np.add.reduceat(sample.row_counts[places], starts),
        bounds,
    )


def _bounds(lower: Codes, upper: Codes, starts: Places) -> ColumnBounds:
    least = np.minimum.reduceat(np.where(lower == NO_CODE, _HIGHEST, lower), starts)
    return ColumnBounds(least, np.maximum.reduceat(upper, starts))


def _without_gaps(bounds: ColumnBounds, of_files: ColumnBounds, files: Places) -> ColumnBounds:
    """Gives chunks in order the values that their files have, and the sample lacks.

    Those between two chunks belong to the first of them, and those beyond all chunks to the nearest one.
    """
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    [filled] = np.nonzero(lower <= upper)
    [with_values] = np.nonzero(of_files.lower[files] <= of_files.upper[files])
    if len(filled) and len(with_values):
        upper[filled[:-1]] = np.maximum(upper[filled[:-1]], lower[filled[1:]] - 1)
        known = files[with_values]
        lower[filled[0]] = min(lower[filled[0]], of_files.lower[known].min())
        upper[filled[-1]] = max(upper[filled[-1]], of_files.upper[known].max())
    return ColumnBounds(lower, upper)
