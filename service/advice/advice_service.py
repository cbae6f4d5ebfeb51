"""Advice on the layout of tables, for those who may see all of a table's rows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from service.advice.advice_options import AdviceOptions
from service.advice.advise import advise, filtered_columns
from service.errors.policy_errors import TableAccessDenied
from service.errors.unavailable import GatewayBusy
from service.model.policies.actions import Action
from service.model.policies.decisions import Access, Allowed
from service.model.query.layout_advice import TableAdvice
from service.model.query.scan_metrics import ScanRecord
from service.model.tables.table_layout import TableLayout
from service.model.tables.tables import TableName
from service.policies.require import require
from service.ports.clock import Clock
from service.ports.stores.query_store import QueryHistory
from service.ports.tables.rewritten_rows import RewrittenRows
from service.ports.tables.table_layouts import LayoutBounds, TableLayouts


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceBounds:
    """How far back advice looks, at how many scans, how much of a table, and for how long."""

    days: int
    max_scans: int
    layout: LayoutBounds
    options: AdviceOptions
    timeout_s: float
    max_at_once: int


@dataclass(frozen=True, slots=True)
class AdviceBasis:
    """The layout of a table, and the scans since then, without what they say of masked columns.

    `rewritten` knows the size of files after a change; None: it is not to be found out.
    """

    layout: TableLayout
    rewritten: RewrittenRows | None
    scans: Sequence[ScanRecord]
    since: datetime
    is_late: Callable[[], bool]


class AdviceService:
    """Advises on tables. Any thread may call any method."""

    def __init__(
        self, history: QueryHistory, layouts: TableLayouts, clock: Clock, bounds: AdviceBounds
    ) -> None:
        self._history = history
        self._layouts = layouts
        self._clock = clock
        self._bounds = bounds
        self._places = threading.BoundedSemaphore(bounds.max_at_once)

    def advice(self, table: TableName, access: Access, days: int | None = None) -> TableAdvice:
        """Returns what would save the scans of all callers in the last `days` most; at most the set number.

        It has no values that queries looked for, and nothing of columns that are masked.

        Raises:
            TableAccessDenied: the principal does not see every row of the table.
            GatewayBusy: other advice is being found.
            TableAmbiguous, TableNotFound, LayoutUnknown: the table has no layout to look at.
            CatalogDown, StorageDown, MetricsStoreDown: a part does not answer.
        """
        check_sees_every_row(table, access)
        with self._place(0):
            basis = self._basis(table, access, days)
            return advise(
                basis.layout, basis.scans, basis.since, self.options, basis.is_late, basis.rewritten
            )

    def basis(self, table: TableName, access: Access, days: int | None, wait_s: float) -> AdviceBasis:
        """Returns what advice is found from; it waits for a place, at most `wait_s`.

        Raises:
            TableAccessDenied, GatewayBusy, TableAmbiguous, TableNotFound, LayoutUnknown, CatalogDown,
            StorageDown, MetricsStoreDown: as `advice`.
        """
        check_sees_every_row(table, access)
        with self._place(wait_s):
            return self._basis(table, access, days)

    @property
    def options(self) -> AdviceOptions:
        """What is worth advising."""
        return self._bounds.options

    def _basis(self, table: TableName, access: Access, days: int | None) -> AdviceBasis:
        until_ms = self._clock.elapsed_ms() + self._bounds.timeout_s * 1000
        since = self._clock.now() - timedelta(days=min(days or self._bounds.days, self._bounds.days))
        scans = self._history.scans(since, str(table), self._bounds.max_scans)
        shown = list(_without(scans, masked_columns(table, access)))
        columns = [column.column for column in filtered_columns(shown)[: self.options.max_columns]]
        layout = self._layouts.layout(table, columns, self._bounds.layout)
        rewritten = self._layouts.rewritten(layout, self._bounds.layout)
        return AdviceBasis(layout, rewritten, shown, since, lambda: self._clock.elapsed_ms() >= until_ms)

    @contextmanager
    def _place(self, wait_s: float) -> Iterator[None]:
        if not self._places.acquire(blocking=wait_s > 0, timeout=wait_s if wait_s > 0 else None):
            raise GatewayBusy("Advice for other tables is being found. Send the request again.")
        try:
            yield
        finally:
            self._places.release()


def check_sees_every_row(table: TableName, access: Access) -> None:
    """Checks that the principal may have advice on the table.

    Raises:
        TableAccessDenied: it does not see every row.
    """
    require(access, Action.DESCRIBE, table)
    decision = access.decide(Action.SELECT, table)
    if not isinstance(decision, Allowed):
        raise TableAccessDenied(table, Action.SELECT)
    if decision.restriction.row_filter is not None:
        raise TableAccessDenied(
            table, Action.SELECT, "policies restrict it, and advice would show where other rows lie"
        )


def masked_columns(table: TableName, access: Access) -> Callable[[str], bool]:
    """Returns whether a column, or what it is a field of, is masked for the principal."""
    decision = access.decide(Action.SELECT, table)
    if not isinstance(decision, Allowed):
        # Rights that were lost since they were checked show nothing.
        return lambda _: True
    is_masked = decision.restriction.is_masked
    return lambda column: any(map(is_masked, _paths(column)))


def _without(scans: Iterable[ScanRecord], is_masked: Callable[[str], bool]) -> Iterator[ScanRecord]:
    """Yields the scans without what they say of masked columns."""
    for scan in scans:
        shown = tuple(predicate for predicate in scan.predicates if not is_masked(predicate.column))
        yield replace(scan, predicates=shown)


def _paths(column: str) -> Iterator[str]:
    """Yields the column and all that it may be a field of; its name may have dots."""
    parts = column.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts) + 1))
