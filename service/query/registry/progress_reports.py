"""Reports to the other replicas how far the queries of this one are."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import replace
from uuid import UUID

from service.errors.unavailable import MetricsStoreDown
from service.model.query.replicas import ProgressReport
from service.ports.clock import Clock
from service.ports.stores.replicas import SharedProgress
from service.query.registry.query_handle import QueryHandle

MOST_REPORTED = 100
"""How many queries are reported at once: those that run, then those that have waited longest."""
MOST_SCANS = 20
"""The report of a query with more scans has none of them, so that no report is large."""
YOUNG_MS = 1_000
"""Queries that are not open for longer are not reported."""
WITHIN_MS = 500
"""How long reports are collected: an engine that hangs must not hold up the next heartbeat."""
NOTHING = ProgressReport()


class ProgressReports:
    """Sends a report of each query that its replica has written down. Only one thread may call it."""

    def __init__(
        self,
        replicas: SharedProgress,
        report_of: Callable[[QueryHandle], ProgressReport],
        clock: Clock,
        valid_s: float,
    ) -> None:
        """Others see a report for `valid_s`, unless a newer one replaces it."""
        self._replicas = replicas
        self._report_of = report_of
        self._clock = clock
        self._valid_s = valid_s

    def send(self, queries: Iterable[QueryHandle]) -> None:
        """Reports these queries; without a store, others see nothing of them."""
        reports = self._reports(heapq.nsmallest(MOST_REPORTED, queries, key=_rank))
        if not reports:
            return
        try:
            self._replicas.report_progress(reports, self._valid_s)
        except MetricsStoreDown:
            # Nobody depends on a report, and the next heartbeat says that the store is away.
            return

    def _reports(self, queries: Iterable[QueryHandle]) -> dict[UUID, ProgressReport]:
        reports: dict[UUID, ProgressReport] = {}
        began_ms = self._clock.elapsed_ms()
        for query in queries:
            now_ms = self._clock.elapsed_ms()
            if now_ms - began_ms > WITHIN_MS:
                break
            status = query.status(now_ms)
            if status.record.state.is_final or status.elapsed_ms < YOUNG_MS:
                continue
            report = _bounded(self._report_of(query))
            if report != NOTHING:
                reports[query.query_id] = report
        return reports


def _rank(query: QueryHandle) -> tuple[bool, bool, float]:
    return query.record.state.is_final, not query.is_running(), query.record.submitted_at.timestamp()


def _bounded(report: ProgressReport) -> ProgressReport:
    progress = report.progress
    if progress is None or len(progress.scans) <= MOST_SCANS:
        return report
    return replace(report, progress=replace(progress, scans=()))
