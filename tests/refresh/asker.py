"""Asks a gateway in this process, with and without reuse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from service.gateway import Gateway
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.query.query import Parameters, QueryRecord, QueryRequest, QueryState
from service.model.query.refresh import RefreshOutcome
from service.model.query.results import Column
from service.model.query.reuse import ReuseChoice, ReuseKind
from service.model.query.rewrites import RewriteKind
from service.query.refresh.refresher import Refresher
from tests.refresh.tables import SCHEMA

CALLER = "ann"
PATIENCE_S = 120


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of a query: its record, and its rows if it has any."""

    record: QueryRecord
    columns: tuple[Column, ...] = ()
    rows: pa.Table | None = None

    @property
    def kind(self) -> ReuseKind | None:
        return None if self.record.reused is None else self.record.reused.kind

    @property
    def is_refreshed(self) -> bool:
        return self.kind is ReuseKind.REFRESHED

    @property
    def has_state(self) -> bool:
        """Whether it came from a state, old or new."""
        return any(rewrite.kind is RewriteKind.REFRESH and rewrite.table for rewrite in self.record.rewrites)

    def snapshot(self, table: str) -> int | None:
        """The snapshot of a table that it is of."""
        found = {scan.snapshot_id for scan in self.record.scans if scan.table.lower().endswith(f".{table}")}
        assert len(found) == 1, self.record.scans
        return found.pop()

    def selected_bytes(self, table: str = "") -> int:
        """The bytes of the files that were read, of all tables or of one."""
        return sum(
            scan.metrics.bytes.selected
            for scan in self.record.scans
            if not table or scan.table.lower().endswith(f".{table}")
        )

    def bag(self) -> Counter[tuple[Any, ...]]:
        """The rows as a multiset."""
        assert self.rows is not None, self.record.error
        columns = [column.to_pylist() for column in self.rows.columns]
        return Counter(zip(*columns, strict=True))

    def listed(self) -> list[tuple[Any, ...]]:
        assert self.rows is not None, self.record.error
        return list(zip(*(column.to_pylist() for column in self.rows.columns), strict=True))


class Asker:
    """Asks one query after another."""

    def __init__(self, gateway: Gateway, access: Access = FULL_ACCESS) -> None:
        self._queries = gateway.queries
        self._access = access

    def outcomes(self) -> Mapping[RefreshOutcome, int]:
        refresher = self._queries.ports.refresh
        assert isinstance(refresher, Refresher)
        return refresher.outcomes

    def ask(
        self, sql: str, parameters: Parameters = (), reuse: ReuseChoice | None = ReuseChoice.USE
    ) -> Answer:
        request = QueryRequest(sql, parameters, "lake", SCHEMA, reuse=reuse)
        query_id = self._queries.submit(request, CALLER, self._access).query_id
        self._queries.finished(query_id).result(PATIENCE_S)
        status = self._queries.status(query_id, CALLER)
        if status.record.state is not QueryState.SUCCEEDED:
            return Answer(status.record)
        assert status.manifest is not None
        assert len(status.manifest.chunks) <= 1
        rows = None
        if status.manifest.chunks:
            rows = self._queries.results.chunk(query_id, 0, CALLER).rows
        return Answer(status.record, status.manifest.columns, rows)

    def run(self, sql: str, parameters: Parameters = ()) -> Answer:
        """Runs the query in full."""
        return self.ask(sql, parameters, ReuseChoice.NEVER)
