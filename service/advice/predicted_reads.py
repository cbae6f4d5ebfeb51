"""The reads of each scan in an advised layout: the parts of the sum that the advice has."""

from __future__ import annotations

from service.advice.chunks import Chunks, ScanReads
from service.advice.coded_layout import CodedLayout
from service.advice.other_advice import SMALL_SHARE, bloom_filter_reads
from service.advice.partition_keys import partition_keys
from service.advice.relayouts import packed_layout, partitioned_layout, sorted_layout, split_layout
from service.model.query.layout_advice import AdviceKind, LayoutAdvice


def predicted_reads(coded: CodedLayout, advice: LayoutAdvice) -> ScanReads:
    """Returns what each of the scans would read once. `advice` was found for this layout and these scans.

    Raises:
        OutOfTime: it is late.
    """
    match advice.kind:
        case AdviceKind.SORT:
            return coded.reads_of_rows(sorted_layout(coded, advice.columns, _file_bytes(advice)))
        case AdviceKind.PARTITION:
            [column] = advice.columns
            keys = next(
                keys.keys for keys in partition_keys(coded, column) if keys.transform == advice.transform
            )
            return coded.reads_of_rows(partitioned_layout(coded, keys, column))
        case AdviceKind.FILE_SIZE:
            return _read_by(coded, split_layout(coded, _file_bytes(advice)))
        case AdviceKind.COMPACTION:
            target = coded.layout.target_file_bytes
            return _read_by(coded, packed_layout(coded, int(target * SMALL_SHARE), target))
        case AdviceKind.BLOOM_FILTER:
            return bloom_filter_reads(coded, advice.columns[0])


def _read_by(coded: CodedLayout, chunks: Chunks) -> ScanReads:
    return chunks.read_by(coded.scans, coded.is_late)


def _file_bytes(advice: LayoutAdvice) -> int:
    assert advice.file_bytes is not None  # as advice of these kinds has it
    return advice.file_bytes
