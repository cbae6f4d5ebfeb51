"""Puts together what a trial has found, and shows no value that queries looked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from service.advice.predicted_reads import PredictedReads
from service.model.query.layout_advice import LayoutAdvice, ReadAmount
from service.model.query.layout_trial import CountedReads, LayoutTrial, TrialReport, TriedAmount, TriedFilter
from service.model.query.scan_metrics import ScanRecord
from service.model.query.scan_predicates import ScanPredicate

FILTERS_AT_MOST = 100


@dataclass(frozen=True, slots=True)
class EqualScans:
    """Recorded scans with the same predicates; `number` is their place among the predicted reads."""

    predicates: tuple[ScanPredicate, ...]
    number: int
    count: int


def equal_scans(scans: Iterable[ScanRecord], numbers: Iterable[int]) -> list[EqualScans]:
    """Returns the scans that differ, with their places among the predicted reads."""
    counts: dict[tuple[tuple[ScanPredicate, ...], int], int] = {}
    for scan, number in zip(scans, numbers, strict=True):
        known = tuple(predicate for predicate in scan.predicates if predicate.ranges is not None)
        counts[known, number] = counts.get((known, number), 0) + 1
    return [EqualScans(predicates, number, count) for (predicates, number), count in counts.items()]


def trial_report(
    advice: LayoutAdvice,
    scans: Sequence[EqualScans],
    predicted: PredictedReads,
    now: CountedReads,
    seen: CountedReads,
) -> TrialReport:
    """Returns the report; `now` and `seen` have the same scans, in the same order."""
    filters = [
        TriedFilter(
            columns=tuple(predicate.column for predicate in found.predicates),
            scan_count=found.count,
            amount=TriedAmount(
                now=_times(one_now, found.count),
                predicted=ReadAmount(
                    round(float(predicted.scans.files[found.number]) * found.count),
                    round(float(predicted.scans.byte_counts[found.number]) * found.count),
                ),
                seen=_times(one_seen, found.count),
            ),
        )
        for found, one_now, one_seen in zip(scans, now.scans, seen.scans, strict=True)
    ]
    return TrialReport(
        columns=advice.columns,
        transform=advice.transform,
        file_bytes=advice.file_bytes,
        scan_count=sum(found.count for found in scans),
        amount=TriedAmount(
            now=_sum(found.amount.now for found in filters),
            predicted=_sum(found.amount.predicted for found in filters),
            seen=_sum(found.amount.seen for found in filters),
        ),
        table_now=now.whole,
        table_predicted=predicted.whole,
        table_seen=seen.whole,
        is_size_predicted=predicted.is_size_predicted,
        filters=sorted(filters, key=lambda found: -found.amount.now.byte_count)[:FILTERS_AT_MOST],
    )


def shown_trial(trial: LayoutTrial, is_masked: Callable[[str], bool]) -> LayoutTrial:
    """Returns the trial without what it says of masked columns; without a report if it is all about them."""
    report = trial.report
    if report is None:
        return trial
    if any(map(is_masked, report.columns)):
        return replace(trial, report=None)
    filters = [found for found in report.filters if not any(map(is_masked, found.columns))]
    return replace(trial, report=replace(report, filters=filters))


def _times(amount: ReadAmount, count: int) -> ReadAmount:
    return ReadAmount(amount.file_count * count, amount.byte_count * count)


def _sum(amounts: Iterable[ReadAmount]) -> ReadAmount:
    found = list(amounts)
    return ReadAmount(sum(one.file_count for one in found), sum(one.byte_count for one in found))
