"""A verification compares two runs; a commit between them must not count as a filter's fault."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.types import IntegerType

from service.model.operations.health import PartHealth
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import PruningRequest, QueryRequest
from service.model.query.verification import Verification
from service.ports.engine.query_engine import Engine, EngineResult, Statement
from service.query.execution.run_pruned import run_pruned
from service.query.registry.query_handle import QueryHandle
from tests.equivalence.harness import Harness
from tests.equivalence.lakehouse import SCHEMA, Layout, append, created


class WrittenTo:
    """An engine (`Engine`) during whose first run another writer commits once."""

    def __init__(self, engine: Engine, commit: Callable[[], None]) -> None:
        self._engine = engine
        self._commit = commit
        self.texts: list[str] = []

    def run(self, statement: Statement) -> EngineResult:
        result = self._engine.run(statement)
        # It commits once only. Otherwise the query would seem nondeterministic in the third run.
        if not self.texts:
            self._commit()
        self.texts.append(statement.sql)
        return result

    def explain(self, statement: Statement) -> EngineResult:
        return self._engine.explain(statement)

    def cancel(self, query_id: UUID) -> None:
        self._engine.cancel(query_id)

    def health(self) -> PartHealth:
        return self._engine.health()

    def close(self) -> None:
        self._engine.close()


def verified(sql: str, harness: Harness, commit: Callable[[], None]) -> tuple[Verification | None, list[str]]:
    """Returns the verification with a commit after the pruned run, and the texts that ran."""
    request = QueryRequest(sql, catalog="lake", schema=SCHEMA, pruning=PruningRequest(is_verified=True))
    pruner = harness._ports.pruner
    query = QueryHandle(uuid4(), request, "ann", FULL_ACCESS, datetime.now(UTC), 0)
    pruned = pruner.prune(request, FULL_ACCESS, query.is_canceled)
    assert any(filter_record.is_applied for filter_record in pruned.filters)
    engine = WrittenTo(harness._ports.engine, commit)
    return run_pruned(query, pruned, pruner, engine, retries=0).verification, engine.texts


def third(lake: SqlCatalog, name: str) -> Table:
    """Creates a table without rows that no filter comes from."""
    return created(lake, name, {"n": IntegerType()}, Layout())


@pytest.mark.parametrize(
    "reference",
    ["third t", "(SELECT t.n FROM third t WHERE t.n IN (SELECT n FROM third)) t"],
    ids=["by itself", "twice"],
)
def test_a_third_table_is_read_at_one_snapshot(reference: str, harness: Harness, lake: SqlCatalog) -> None:
    table = third(lake, "third")
    append(table, [{"n": 1}])
    sql = f"SELECT f.id, t.n FROM by_k f JOIN dim d ON f.k = d.k CROSS JOIN {reference} WHERE d.year = 1999"
    found, texts = verified(sql, harness, lambda: append(table, [{"n": 2}]))
    assert found is Verification.SAME
    assert len(texts) == 2
    lake.drop_table(f"{SCHEMA}.third")


def test_one_that_has_no_snapshot_proves_nothing(harness: Harness, lake: SqlCatalog) -> None:
    table = third(lake, "unwritten")
    joined = "by_k f JOIN dim d ON f.k = d.k LEFT JOIN unwritten t ON true"
    sql = f"SELECT f.id, t.n FROM {joined} WHERE d.year = 1999"
    assert verified(sql, harness, lambda: None)[0] is Verification.SAME
    found, texts = verified(sql, harness, lambda: append(table, [{"n": 2}]))
    assert found is Verification.NOT_COMPARABLE
    assert len(texts) == 3
