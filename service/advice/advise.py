"""Advice for one table, from its layout and the scans that were recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from service.advice.advice_options import AdviceOptions
from service.advice.chunks import OutOfTime
from service.advice.coded_layout import CodedLayout, coded_layout
from service.advice.other_advice import bloom_filter_advice, compaction_advice, partition_advice
from service.advice.predicted_reads import with_sizes
from service.advice.sort_advice import file_size_advice, sort_advice
from service.errors.table_errors import LayoutUnknown
from service.model.query.layout_advice import (
    AdviceKind,
    FilteredColumn,
    LayoutAdvice,
    ReadAmount,
    RecordedWorkload,
    TableAdvice,
)
from service.model.query.scan_metrics import ScanRecord
from service.model.tables.table_layout import TableLayout
from service.ports.tables.rewritten_rows import RewrittenRows

_AS_NOW = "The size of files was not predicted for all advice: there, rows take as much space as now."
_WAY_OF_ASKING = Callable[[], LayoutAdvice | None]


def advise(
    layout: TableLayout,
    scans: Sequence[ScanRecord],
    since: datetime,
    options: AdviceOptions,
    is_late: Callable[[], bool] = lambda: False,
    rewritten: RewrittenRows | None = None,
) -> TableAdvice:
    """Returns what would save the scans most. It stops early, and says so, once `is_late`.

    Without `rewritten`, rows are taken to need as much space after a change as now.

    Raises:
        LayoutUnknown: it is late before the scans are simulated on the files of now.
    """
    explained = [scan for scan in scans if is_explained(scan, layout)]
    try:
        coded = coded_layout(layout, explained, is_late, rewritten)
    except OutOfTime:
        raise LayoutUnknown("The recorded scans were not simulated in time.") from None
    found: list[LayoutAdvice] = []
    notes = list(_notes(coded, explained))
    if explained and layout.files and layout.is_simulated:
        try:
            for advice in _answers(coded, options):
                found.append(advice)
        except OutOfTime:
            notes.append("Time was up before all kinds of advice were tried.")
    # After all kinds were tried: it takes long.
    found = [with_sizes(coded, advice) for advice in found]
    found = [advice for advice in found if _is_worth(advice, options)]
    if rewritten is not None and any(map(_lacks_size, found)):
        notes.append(_AS_NOW)
    return TableAdvice(
        table=layout.table,
        snapshot_id=layout.snapshot_id,
        workload=_workload(scans, explained, since),
        simulated=coded.before,
        file_count=len(layout.files),
        byte_count=layout.byte_count,
        sampled_rows=len(layout.sample.file_numbers),
        advice=tuple(sorted(found, key=lambda advice: advice.saved_bytes, reverse=True)),
        notes=tuple(notes),
    )


def is_explained(scan: ScanRecord, layout: TableLayout) -> bool:
    """Whether the recorded conditions say why the scan read less than all of the table."""
    if scan.metrics.bytes.selected >= scan.metrics.bytes.total:
        return True
    return any(
        predicate.ranges is not None and predicate.column in layout.column_types
        for predicate in scan.predicates
    )


def filtered_columns(scans: Sequence[ScanRecord]) -> list[FilteredColumn]:
    """Returns the columns that these scans were filtered by, those of most scans first."""
    counts: Counter[str] = Counter()
    equalities: Counter[str] = Counter()
    for scan in scans:
        for predicate in scan.predicates:
            counts[predicate.column] += 1
            if predicate.ranges and all(lower == upper for lower, upper in predicate.ranges):
                equalities[predicate.column] += 1
    by_count = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [FilteredColumn(column, count, equalities[column]) for column, count in by_count]


def _answers(coded: CodedLayout, options: AdviceOptions) -> Iterator[LayoutAdvice]:
    for ask in _questions(coded, options):
        if coded.is_late():
            raise OutOfTime
        advice = ask()
        if advice is not None:
            yield advice


def _questions(coded: CodedLayout, options: AdviceOptions) -> Iterator[_WAY_OF_ASKING]:
    counts: Counter[str] = Counter()
    for scan in coded.scans:
        for column in scan.ranges:
            counts[column] += scan.count
    columns = [column for column, _ in counts.most_common(options.max_columns)]
    if coded.sample.columns and len(coded.sample.file_numbers):
        yield lambda: sort_advice(coded, columns, options)
        yield lambda: partition_advice(coded, columns, options)
        yield lambda: file_size_advice(coded, options)
        yield lambda: bloom_filter_advice(coded, columns, options)
    yield lambda: compaction_advice(coded)


def _lacks_size(advice: LayoutAdvice) -> bool:
    return not advice.is_size_predicted and advice.kind is not AdviceKind.BLOOM_FILTER


def _is_worth(advice: LayoutAdvice, options: AdviceOptions) -> bool:
    if advice.kind is AdviceKind.COMPACTION:
        # It opens fewer files; it should not cost what pruning saves.
        return advice.saved_share >= -options.min_saved_share
    return advice.saved_bytes > 0 and advice.saved_share >= options.min_saved_share


def _workload(
    scans: Sequence[ScanRecord], explained: Sequence[ScanRecord], since: datetime
) -> RecordedWorkload:
    recorded = ReadAmount(
        sum(scan.metrics.data_files.selected for scan in explained),
        sum(scan.metrics.bytes.selected for scan in explained),
    )
    return RecordedWorkload(
        since=since,
        scan_count=len(explained),
        unexplained_count=len(scans) - len(explained),
        recorded=recorded,
        filtered_columns=filtered_columns(explained),
    )


def _notes(coded: CodedLayout, explained: Sequence[ScanRecord]) -> Iterator[str]:
    layout = coded.layout
    if not explained:
        yield "No scan of the table is recorded that can be simulated."
    if not layout.is_simulated:
        yield (
            "A partition field has a transform whose effect on scans is not simulated, such as bucket:"
            " nothing is advised."
        )
    if coded.sampled is not None:
        sampled = len(set(layout.sample.file_numbers))
        yield f"Rows were sampled from {sampled} of {len(layout.files)} data files."
    left_out = sorted({column.column for column in filtered_columns(explained)} - set(layout.column_types))
    if left_out:
        yield f"Columns that are not simulated: {', '.join(left_out)}."
    if layout.has_deletes:
        yield "Files of deletes are not counted."
