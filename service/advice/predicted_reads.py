"""The reads of each scan in an advised layout: the parts of the sum that the advice has."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from service.advice.chunks import Chunks, OutOfTime, ScanReads
from service.advice.coded_layout import CodedLayout
from service.advice.other_advice import SMALL_SHARE, bloom_filter_reads
from service.advice.partition_keys import partition_keys
from service.advice.relayouts import (
    bundles_of_files,
    packed_layout,
    partitioned_layout,
    sorted_layout,
    split_layout,
)
from service.advice.rewritten_chunks import rewritten_chunks
from service.model.query.layout_advice import AdviceKind, LayoutAdvice, ReadAmount


@dataclass(frozen=True, slots=True)
class PredictedReads:
    """The reads of each scan, once, and all data files after the change.

    `is_size_predicted`: how well rows compress after the change is known.
    """

    scans: ScanReads
    whole: ReadAmount
    is_size_predicted: bool


def predicted_reads(coded: CodedLayout, advice: LayoutAdvice) -> PredictedReads:
    """Returns what scans would read. `advice` was found for this layout and these scans.

    Raises:
        OutOfTime: it is late.
    """
    if advice.kind is AdviceKind.BLOOM_FILTER:
        whole = ReadAmount(len(coded.layout.files), coded.layout.byte_count)
        return PredictedReads(bloom_filter_reads(coded, advice.columns[0]), whole, False)
    chunks, is_rewritten = _chunks(coded, advice)
    found = rewritten_chunks(coded, advice, chunks, is_rewritten)
    after = chunks if found is None else found
    is_of_rows = advice.kind in (AdviceKind.SORT, AdviceKind.PARTITION)
    reads = coded.reads_of_rows(after) if is_of_rows else after.read_by(coded.scans, coded.is_late)
    whole = ReadAmount(len(after.byte_counts), round(float(after.byte_counts.sum())))
    return PredictedReads(reads, whole, found is not None)


def with_sizes(coded: CodedLayout, advice: LayoutAdvice) -> LayoutAdvice:
    """Returns the advice with the bytes that are read if files get another size.

    If that is unknown, or it is late, it returns the advice as it is.
    """
    if coded.rewritten is None or advice.kind is AdviceKind.BLOOM_FILTER:
        return advice
    try:
        found = predicted_reads(coded, advice)
    except OutOfTime:
        return advice
    return replace(advice, after=coded.sum(found.scans), is_size_predicted=found.is_size_predicted)


def _chunks(coded: CodedLayout, advice: LayoutAdvice) -> tuple[Chunks, npt.NDArray[np.bool_] | None]:
    """Returns the files after the change, and which of them are new if not all are."""
    match advice.kind:
        case AdviceKind.SORT:
            return sorted_layout(coded, advice.columns, _file_bytes(advice)), None
        case AdviceKind.PARTITION:
            [column] = advice.columns
            keys = next(
                keys.keys for keys in partition_keys(coded, column) if keys.transform == advice.transform
            )
            return partitioned_layout(coded, keys, column), None
        case AdviceKind.FILE_SIZE:
            return split_layout(coded, _file_bytes(advice)), None
    target = coded.layout.target_file_bytes
    bundles = bundles_of_files(coded, int(target * SMALL_SHARE), target)
    return packed_layout(coded, bundles), np.array([len(bundle) > 1 for bundle in bundles], np.bool_)


def _file_bytes(advice: LayoutAdvice) -> int:
    assert advice.file_bytes is not None  # as advice of these kinds has it
    return advice.file_bytes
