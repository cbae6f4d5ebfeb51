"""Filters that come after their queries have begun leave the rows as they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import wait
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, note, reject, seed, settings
from hypothesis.strategies import sampled_from
from pyiceberg.catalog.sql import SqlCatalog

from service.errors.query_errors import QueryFailed
from service.gateway import Gateway
from service.model.filters.key_set import FilterSource
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import PruningRequest, QueryRequest
from service.model.query.rewrites import RewriteKind
from service.ports.engine.late_filters import LateUse
from service.ports.engine.query_engine import EngineResult, Statement
from service.query.filtering.pruned_query import PrunedQuery
from tests.equivalence.conftest import NONE_KEPT
from tests.equivalence.generated_checks import COUNT, TIMEOUT_S, seed_of_run
from tests.equivalence.generator import queries
from tests.equivalence.harness import (
    BYTES_AT_MOST,
    ROWS_AT_MOST,
    WITHOUT_COMET,
    EngineGaveUp,
    Harness,
    different_rows,
    more_files,
)
from tests.equivalence.lakehouse import SCHEMA
from tests.soak import SOAK
from tests.thorough import WITH_COMET

PATIENCE_S = 60.0
WAITS_MS = (1, 3, 10, 30, 100)
"""How long a query waits for its keys. A collection may end within this time, or not begin."""
TRIES = 4
SCANNED = frozenset(RewriteKind) - {RewriteKind.LOCAL_RELATION}
"""The tables are so small that the gateway keeps their rows, once tests have asked for them often enough."""
ADAPTIVE = {"spark.sql.adaptive.enabled": "true", **NONE_KEPT}
STAR = "SELECT f.id FROM sorted_by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999"


class LateHarness:
    """Runs queries whose keys come after they were planned, and before they run."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._ports = gateway.queries.ports
        self._plain = Harness(gateway)
        self.uses: Counter[LateUse] = Counter()

    def check(self, sql: str, wait_ms: int = WAITS_MS[0]) -> tuple[PrunedQuery, EngineResult]:
        """Checks that a query with late filters has the rows of the query as written, from no more files."""
        written = self._written(sql)
        pruned = self._begun(sql, wait_ms)
        wait([keys.filter.condition for keys in pruned.late], PATIENCE_S)
        found = self._ports.engine.run(_statement(pruned))
        different = different_rows(written.rows, found.rows)
        assert not different, f"other rows\nas written: {sql}\nlate: {_conditions(pruned)}\n{different}"
        tables = {str(keys.filter.table) for keys in pruned.late}
        more = [line for line in more_files(written.scans, found.scans) if line.partition(":")[0] in tables]
        assert not more, f"more files: {more}\nas written: {sql}\nlate: {_conditions(pruned)}"
        self.uses.update(found.late_uses.values())
        return pruned.with_late(found.late_uses), found

    def _written(self, sql: str) -> EngineResult:
        try:
            by_spark = WITHOUT_COMET if WITH_COMET else {}
            return self._plain.run(sql, (), PrunedQuery(sql, properties={**ADAPTIVE, **by_spark}))
        except QueryFailed as failure:
            raise EngineGaveUp from failure

    def _begun(self, sql: str, wait_ms: int) -> PrunedQuery:
        """Returns the query as it begins when no keys are there yet."""
        self._gateway.forget_filters()
        asked = PruningRequest(collect_timeout_ms=wait_ms, rewrites=SCANNED)
        request = QueryRequest(sql, (), "lake", SCHEMA, pruning=asked)
        return self._ports.pruner.prune(request, FULL_ACCESS, is_canceled=lambda: False)


def _statement(pruned: PrunedQuery) -> Statement:
    return Statement(
        query_id=uuid4(),
        sql=pruned.sql,
        parameters=(),
        catalog="lake",
        schema=SCHEMA,
        row_limit=ROWS_AT_MOST,
        byte_limit=BYTES_AT_MOST,
        is_canceled=lambda: False,
        access=FULL_ACCESS,
        relations=pruned.relations,
        properties={**pruned.properties, **ADAPTIVE},
        late_filters=tuple(keys.filter for keys in pruned.late),
    )


def _conditions(pruned: PrunedQuery) -> Mapping[str, str | None]:
    return {
        str(keys.filter.table): keys.filter.condition.result()
        for keys in pruned.late
        if keys.filter.condition.done()
    }


@pytest.fixture(scope="module")
def late(gateway: Gateway, lake: SqlCatalog) -> LateHarness:  # noqa: ARG001
    return LateHarness(gateway)


def test_a_filter_that_comes_before_the_scan_begins_leaves_out_files(late: LateHarness) -> None:
    for wait_ms in WAITS_MS * TRIES:
        pruned, result = late.check(STAR, wait_ms)
        if LateUse.USED in result.late_uses.values():
            break
    [found] = [filter_ for filter_ in pruned.filters if filter_.is_applied]
    assert (found.source, found.probe.table.table) == (FilterSource.ARRIVED_LATE, "sorted_by_k")
    [files] = [scan.metrics.data_files for scan in result.scans if scan.table.endswith(".sorted_by_k")]
    assert 0 < files.selected < files.total


@pytest.mark.timeout(TIMEOUT_S)
def test_generated_queries_have_the_same_rows_with_late_filters(late: LateHarness) -> None:
    print(f"seed {(first := seed_of_run())}")  # noqa: T201 - pytest shows it with a failure

    @seed(first)
    @settings(
        max_examples=COUNT if SOAK else COUNT // 2,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
    @given(queries(), sampled_from(WAITS_MS))
    def check(sql: str, wait_ms: int) -> None:
        note(sql)
        try:
            late.check(sql, wait_ms)
        except EngineGaveUp:
            reject()

    check()
    assert late.uses[LateUse.USED] > 0, "too few filters came late to prove anything"
