"""Trials of advice: a copy of a table gets another layout, and the recorded scans are counted on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from service.model.query.layout_advice import AdviceKind, LayoutAdvice, ReadAmount
from service.model.query.scan_predicates import ScanPredicate
from service.model.tables.tables import TableName


class TrialState(StrEnum):
    """How far a trial is. The last three are ends."""

    ADVISING = "ADVISING"
    REWRITING = "REWRITING"
    MEASURING = "MEASURING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELED = "CANCELED"

    @property
    def is_ended(self) -> bool:
        """Whether nothing changes any more."""
        return self in (TrialState.SUCCEEDED, TrialState.FAILED, TrialState.CANCELED)


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """The kind of advice to try, for the scans of the last `days`; None: of as many as the operator set."""

    table: TableName
    kind: AdviceKind
    days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialWork:
    """The advice that a copy of the table at the snapshot gets, and the scans that are counted on it."""

    trial_id: UUID
    table: TableName
    snapshot_id: int
    advice: LayoutAdvice
    scans: Sequence[Sequence[ScanPredicate]]


@dataclass(frozen=True, slots=True)
class CountedReads:
    """The whole table, and what each of the scans selects of it once."""

    whole: ReadAmount
    scans: Sequence[ReadAmount]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedAmount:
    """Files and bytes that some scans select now, after the change by prediction, and of the changed copy."""

    now: ReadAmount
    predicted: ReadAmount
    seen: ReadAmount

    @property
    def difference(self) -> float | None:
        """Predicted less seen bytes, as a share of the seen ones; None if nothing was seen of something.

        >>> one = TriedAmount(now=ReadAmount(9, 90), predicted=ReadAmount(2, 22), seen=ReadAmount(2, 20))
        >>> round(one.difference, 3)
        0.1
        """
        predicted, seen = self.predicted.byte_count, self.seen.byte_count
        if predicted == seen:
            return 0.0
        return (predicted - seen) / seen if seen else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedFilter:
    """Equal scans. `columns` are what they were filtered by; values are not shown."""

    columns: tuple[str, ...]
    scan_count: int
    amount: TriedAmount


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialReport:
    """The result of a trial, for all scans together and for those that read most.

    `table_now`, `table_predicted` and `table_seen` are all data files: of the table, of it after the change
    by prediction, and of its changed copy. `is_size_predicted`: the prediction knows how well rows compress
    after the change. Otherwise they are taken to need as much space as now.
    """

    columns: tuple[str, ...]
    transform: str | None
    file_bytes: int | None
    scan_count: int
    amount: TriedAmount
    table_now: ReadAmount
    table_predicted: ReadAmount
    table_seen: ReadAmount
    is_size_predicted: bool
    filters: Sequence[TriedFilter]

    @property
    def difference_at_size(self) -> float | None:
        """The difference if the prediction had known the size of all files after the change.

        The rest of it is about which files scans select.
        """
        whole, seen = self.table_predicted.byte_count, self.table_seen.byte_count
        if not whole:
            return None
        predicted = self.amount.predicted
        scaled = ReadAmount(predicted.file_count, round(predicted.byte_count * seen / whole))
        return TriedAmount(now=self.amount.now, predicted=scaled, seen=self.amount.seen).difference


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutTrial:
    """One trial. `report` is there once it has succeeded, and the error once it has failed.

    `is_dropped`: nothing of its copy is left.
    """

    trial_id: UUID
    request: TrialRequest
    requested_by: str
    requested_at: datetime
    state: TrialState = TrialState.ADVISING
    snapshot_id: int | None = None
    ended_at: datetime | None = None
    is_dropped: bool = False
    report: TrialReport | None = None
    error_code: str | None = None
    error_detail: str | None = None
