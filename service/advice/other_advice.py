"""Advice to partition a table, to put its small files together, or to write bloom filters."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from service.advice.advice_options import AdviceOptions, size_text
from service.advice.chunks import OutOfTime, ScanReads
from service.advice.coded_layout import CodedLayout
from service.advice.distinct_count import distinct_count
from service.advice.layout_statements import (
    bloom_filter_statements,
    compaction_statements,
    partition_statements,
)
from service.advice.partition_keys import PartitionKeys, partition_keys
from service.advice.relayouts import bundles_of_files, packed_layout, partitioned_layout
from service.advice.value_codes import NO_CODE
from service.model.query.layout_advice import AdviceKind, LayoutAdvice, ReadAmount

SMALL_SHARE = 0.75
"""Iceberg's compaction takes files below this share of the target size."""
_FALSE_POSITIVES = 0.01
_MOST_POINTS = 100


def partition_advice(
    coded: CodedLayout, columns: Sequence[str], options: AdviceOptions
) -> LayoutAdvice | None:
    """Returns the partition field of one of these columns after which the workload reads least."""
    tried: list[tuple[ReadAmount, PartitionKeys]] = []
    present = {(field.source, field.transform) for field in coded.layout.partition_fields}
    for column in columns:
        for keys in partition_keys(coded, column):
            if (column, keys.transform) in present or keys.count > options.max_partitions:
                continue
            chunks = partitioned_layout(coded, keys.keys, column)
            part_count = max(keys.count, len(chunks.byte_counts))
            if coded.layout.byte_count >= options.min_file_bytes * part_count:
                tried.append((coded.read_of_rows(chunks), keys))
                # The coarser ones read more.
                break
    if not tried:
        return None
    after, best = min(tried, key=lambda one: one[0].byte_count)
    by = best.column if best.transform == "identity" else f"{best.transform} of {best.column}"
    return LayoutAdvice(
        kind=AdviceKind.PARTITION,
        reason=f"Partitioned by {by}, the table has about {best.count} partitions, and queries need few.",
        columns=(best.column,),
        before=coded.before,
        after=after,
        statements=partition_statements(coded.layout.table, best.column, best.transform),
        transform=best.transform,
    )


def compaction_advice(coded: CodedLayout) -> LayoutAdvice | None:
    """Returns compaction if scans would open at most half of the files; bytes may stay about the same."""
    target = coded.layout.target_file_bytes
    before = coded.before
    bundles = bundles_of_files(coded, int(target * SMALL_SHARE), target)
    after = coded.read(packed_layout(coded, bundles))
    if not before.file_count or after.file_count * 2 > before.file_count:
        return None
    average = coded.layout.byte_count // len(coded.layout.files)
    return LayoutAdvice(
        kind=AdviceKind.COMPACTION,
        reason=f"Files have {size_text(average)} on average, and their target is {size_text(target)}: scans"
        f" would open {after.file_count} files instead of {before.file_count}.",
        columns=(),
        before=before,
        after=after,
        statements=compaction_statements(coded.layout.table),
    )


def bloom_filter_advice(
    coded: CodedLayout, columns: Sequence[str], options: AdviceOptions
) -> LayoutAdvice | None:
    """Returns the column whose bloom filters skip most row groups for scans that look for single values."""
    candidates = [column for column in columns if column not in coded.layout.bloom_filter_columns]
    before = coded.before
    reads = {column: coded.sum(bloom_filter_reads(coded, column)).byte_count for column in candidates}
    best = min(reads, key=lambda column: reads[column], default=None)
    if best is None or before.byte_count - reads[best] < options.min_saved_share * before.byte_count:
        return None
    return LayoutAdvice(
        kind=AdviceKind.BLOOM_FILTER,
        reason=f"Queries look for single values of {best}, which lie in few row groups. Their number of files"
        " stays the same: these bytes are those of row groups.",
        columns=(best,),
        before=before,
        after=ReadAmount(before.file_count, reads[best]),
        statements=bloom_filter_statements(coded.layout.table, best),
    )


def bloom_filter_reads(coded: CodedLayout, column: str) -> ScanReads:
    """Returns the bytes of row groups that each scan would read with bloom filters of the column.

    Raises:
        OutOfTime: it is late.
    """
    row_groups = np.array([file.row_group_count for file in coded.layout.files], np.int64)
    rows_of_a_value = _rows_of_a_value(coded, column)
    byte_counts = coded.now.byte_counts.copy()
    for place, scan in enumerate(coded.scans):
        if place and coded.is_late():
            raise OutOfTime
        ranges = scan.ranges.get(column)
        points = 0 if ranges is None else ranges.point_count
        groups = int(row_groups[coded.chunks.selected(scan)].sum())
        if groups and 0 < points <= _MOST_POINTS:
            byte_counts[place] *= min(1.0, points * rows_of_a_value / groups + _FALSE_POSITIVES)
    return ScanReads(coded.now.files, byte_counts)


def _rows_of_a_value(coded: CodedLayout, column: str) -> float:
    """Estimates how many rows have the same value."""
    total = sum(file.record_count for file in coded.layout.files)
    codes = coded.sample.columns[column]
    values = distinct_count(codes[codes != NO_CODE], total)
    return total / values if values else math.inf
