"""Advice to sort a table, or to change the size of its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from service.advice.advice_options import AdviceOptions, size_text
from service.advice.coded_layout import CodedLayout
from service.advice.layout_statements import file_size_statements, sort_statements
from service.advice.relayouts import sorted_layout, split_layout
from service.model.query.layout_advice import AdviceKind, LayoutAdvice, ReadAmount

_SIZES_AT_MOST = 6
_AS_GOOD = 1.05
"""Larger files, and fewer columns, are advised if they read at most this much more."""


@dataclass(frozen=True, slots=True)
class _Tried:
    columns: tuple[str, ...]
    file_bytes: int
    read: ReadAmount


def sort_advice(coded: CodedLayout, columns: Sequence[str], options: AdviceOptions) -> LayoutAdvice | None:
    """Returns the order of one or two of these columns after which the workload reads least."""
    singles = [_best_size(coded, (column,), options) for column in columns]
    if not singles:
        return None
    best = min(singles, key=lambda tried: tried.read.byte_count)
    pairs = [
        _best_size(coded, (best.columns[0], column), options)
        for column in columns
        if column != best.columns[0]
    ]
    pair = min(pairs, key=lambda tried: tried.read.byte_count, default=best)
    if pair.read.byte_count * _AS_GOOD < best.read.byte_count:
        best = pair
    return LayoutAdvice(
        kind=AdviceKind.SORT,
        reason=f"Sorted by {' and '.join(best.columns)}, in files of {size_text(best.file_bytes)}, the table"
        " has the values that queries look for in few files.",
        columns=best.columns,
        before=coded.before,
        after=best.read,
        statements=sort_statements(coded.layout.table, best.columns, best.file_bytes),
        file_bytes=best.file_bytes,
    )


def file_size_advice(coded: CodedLayout, options: AdviceOptions) -> LayoutAdvice | None:
    """Returns the size of smaller files, with rows in the order of now, by which the workload reads least."""
    largest = max((file.byte_count for file in coded.layout.files), default=0)
    sizes = [size for size in file_sizes(coded, options) if size < largest]
    if not sizes:
        return None
    best = _largest_good((), sizes, lambda size: coded.read(split_layout(coded, size)))
    return LayoutAdvice(
        kind=AdviceKind.FILE_SIZE,
        reason=f"Files of {size_text(best.file_bytes)} with rows in their order of now hold fewer rows that"
        " queries do not need.",
        columns=(),
        before=coded.before,
        after=best.read,
        statements=file_size_statements(coded.layout.table, best.file_bytes),
        file_bytes=best.file_bytes,
    )


def file_sizes(coded: CodedLayout, options: AdviceOptions) -> Sequence[int]:
    """Returns the sizes that files may get, the table's own first, each half of the one before."""

    def halved() -> Iterator[int]:
        size = coded.layout.target_file_bytes
        yield size
        for _ in range(_SIZES_AT_MOST - 1):
            size //= 2
            if size < options.min_file_bytes:
                return
            yield size

    # All sizes above that of the whole table are the same.
    known = coded.layout.byte_count
    found = list(halved())
    return [size for place, size in enumerate(found) if not place or size < known] if found else []


def _best_size(coded: CodedLayout, columns: tuple[str, ...], options: AdviceOptions) -> _Tried:
    sizes = file_sizes(coded, options)
    return _largest_good(columns, sizes, lambda size: coded.read_of_rows(sorted_layout(coded, columns, size)))


def _largest_good(
    columns: tuple[str, ...], sizes: Sequence[int], read_with: Callable[[int], ReadAmount]
) -> _Tried:
    tried = [_Tried(columns, size, read_with(size)) for size in sizes]
    least = min(one.read.byte_count for one in tried)
    return next(one for one in tried if one.read.byte_count <= least * _AS_GOOD)
