"""Counts queries, and their admission."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from service.model.operations.health import Vitals
from service.model.operations.resource_groups import QueryClass
from service.model.query.query import QueryRecord, QueryState


class Metrics(Protocol):
    """Metrics of the gateway since its start."""

    def count(self, record: QueryRecord) -> None:
        """Counts a query that has ended, with its filters and scans. Never blocks, never raises."""

    def exposition(self, open_queries: Mapping[QueryState, int], vitals: Vitals | None = None) -> bytes:
        """Returns all current metrics and the open queries in Prometheus' text format 0.0.4."""


class AdmissionMetrics(Protocol):
    """Counts which queries were let run, and which were refused. Never blocks, never raises."""

    def admitted(self, group: str, query_class: QueryClass, waited_ms: int) -> None:
        """Counts a query that may run now; the group is a configured one, not that of a caller."""

    def refused(self, group: str, code: str) -> None:
        """Counts a query that met a full queue or a used-up budget."""


class NoAdmissionMetrics:
    """Implements `AdmissionMetrics`: counts nothing."""

    def admitted(self, group: str, query_class: QueryClass, waited_ms: int) -> None:
        """See the port."""

    def refused(self, group: str, code: str) -> None:
        """See the port."""
