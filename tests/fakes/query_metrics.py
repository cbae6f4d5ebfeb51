"""Metrics that store the values they are given."""

from __future__ import annotations

from collections.abc import Mapping

from service.model.operations.health import Vitals
from service.model.query.query import QueryRecord, QueryState


class FakeQueryMetrics:
    def __init__(self) -> None:
        self.records: list[QueryRecord] = []
        self.open_queries: Mapping[QueryState, int] = {}
        self.vitals: Vitals | None = None

    def count(self, record: QueryRecord) -> None:
        self.records.append(record)

    def exposition(self, open_queries: Mapping[QueryState, int], vitals: Vitals | None = None) -> bytes:
        self.open_queries, self.vitals = open_queries, vitals
        return f"records_total {len(self.records)}\n".encode()
