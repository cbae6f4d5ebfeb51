"""Generated writes join the same rows pruned and as written; DuckDB evaluates both."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from uuid import UUID, uuid4

import duckdb
import pytest
import sqlglot

from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.key_set import DynamicFilteringData
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import Parameters, QueryRequest
from service.model.query.rewrites import RewriteKind
from service.model.tables.tables import PartitionField, TableColumn, TableFacts, TableName
from service.pruning.sql_text.change_text import change_text
from service.pruning.sql_text.written_query import written_query
from service.query.execution.prune_write import WritePruning
from service.query.filtering.pruned_query import PrunedQuery
from service.query.registry.query_handle import QueryHandle
from tests.equivalence.generated_writes import Writes
from tests.equivalence.written_tables import FACT, FACT_ROWS, NAMESPACE, SOURCES
from tests.fakes.catalogs import FakeCatalogs
from tests.fakes.clock import FakeClock
from tests.fakes.engine import FakeEngine
from tests.fakes.filter_cache import FakeFilterCache
from tests.fakes.key_collector import FakeKeyCollector
from tests.fakes.pruner import pruner

STATEMENTS = int(os.environ.get("SLUICE_SOAK_CHANGES", "0")) or 60
SEED = int(os.environ.get("SLUICE_SOAK_SEED", "1"))
TARGET = f"{NAMESPACE}.ours"
_FACT = {
    "id": "long",
    "k": "int",
    "b": "long",
    "name": "string",
    "day": "date",
    "price": "decimal(7, 2)",
    "at": "timestamptz",
}
_SOURCE = {
    "id": "long",
    "k": "int",
    "kl": "long",
    "kt": "string",
    "name": "string",
    "b": "long",
    "day": "date",
    "dt": "string",
    "price": "decimal(9, 3)",
    "op": "string",
}
_LAYOUTS: tuple[dict[str, str], ...] = (
    {"k": "identity", "day": "identity", "b": "truncate[10]", "name": "truncate[2]"},
    {"k": "bucket[4]", "at": "day", "price": "identity", "name": "identity"},
    {"day": "month", "b": "identity", "k": "truncate[5]", "id": "bucket[2]"},
)


def duck(sql: str) -> str:
    """Returns a query of Spark for DuckDB, without versions: its tables do not change."""
    text = re.sub(r" VERSION AS OF \d+", "", sql)
    return sqlglot.transpile(text, read="spark", write="duckdb")[0]


def with_ids(sql: str) -> str:
    return re.sub(r"FROM range\((\d+)\)", r"FROM (SELECT range AS id FROM range(\1)) AS r", sql)


@pytest.fixture(scope="module")
def lake() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("ATTACH ':memory:' AS lake")
        connection.execute("CREATE SCHEMA lake.pw")
        rows = f"{FACT} FROM range({FACT_ROWS})"
        for name, query in {**SOURCES, "ours": rows, "fact": rows}.items():
            connection.execute(f"CREATE TABLE {NAMESPACE}.{name} AS {duck(with_ids(query))}")
        yield connection


class DuckKeys(FakeKeyCollector):
    """Collects keys with DuckDB."""

    def __init__(self, lake: duckdb.DuckDBPyConnection) -> None:
        super().__init__()
        self._lake = lake

    def collect(
        self, wanted: DynamicFilter, parameters: Parameters, is_canceled: Callable[[], bool]
    ) -> DynamicFilteringData | None:
        rows = self._lake.cursor().execute(duck(wanted.filtering_query)).fetchall()
        self.put(wanted.filtering_query, tuple(tuple(row) for row in rows))
        return super().collect(wanted, parameters, is_canceled)


def facts(number: int, name: str, columns: dict[str, str], layout: dict[str, str]) -> TableFacts:
    return TableFacts(
        name=TableName("lake", "pw", name),
        table_uuid=UUID(int=number),
        format_version=2,
        location="",
        schema_id=0,
        spec_id=0,
        snapshot_id=number,
        columns=tuple(
            TableColumn(at, column, type_name, is_required=False)
            for at, (column, type_name) in enumerate(columns.items(), start=1)
        ),
        partition_fields=tuple(PartitionField(f"{key}_p", key, kind) for key, kind in layout.items()),
        sort_fields=(),
        snapshots=(),
        record_count=100,
        data_file_count=50,
        total_bytes=100_000,
        snapshot_schema_id=0,
        merge_on_read=("DELETE", "UPDATE", "MERGE"),
    )


class Pruning:
    """Prunes statements over tables of one layout."""

    def __init__(self, lake: duckdb.DuckDBPyConnection, layout: dict[str, str]) -> None:
        made = [facts(1, "ours", _FACT, layout), facts(2, "fact", _FACT, layout)]
        made += [
            facts(number, name, {"k": "int", "kind": "string"} if name == "dim" else _SOURCE, {})
            for number, name in enumerate(SOURCES, start=3)
        ]
        self.catalogs = FakeCatalogs(tables=made)
        self._clock = FakeClock()
        self.pruner = pruner(
            self.catalogs,
            FakeEngine(),
            FakeFilterCache(),
            self._clock,
            is_enabled=True,
            reader=DuckKeys(lake),
            rewrites=frozenset[RewriteKind](),
        )

    def prune(self, sql: str) -> PrunedQuery:
        request = QueryRequest(sql, catalog="lake", schema="pw")
        query = QueryHandle(uuid4(), request, "ann", FULL_ACCESS, datetime.now(UTC), 0)
        return WritePruning(query, self.pruner, self.catalogs, None).prune().pruned


def asked(sql: str) -> str:
    """Returns the rows that a statement joins or writes, as a query."""
    at = written_query(sql)
    if at is not None:
        return sql[at:]
    found = change_text(sql)
    assert found is not None
    return found.question.replace("SELECT 1 ", "SELECT * ", 1)


def rows_of(lake: duckdb.DuckDBPyConnection, sql: str) -> Counter[tuple[object, ...]]:
    return Counter(lake.cursor().execute(f"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ({duck(sql)})").fetchall())


@pytest.mark.timeout(100_000)
@pytest.mark.parametrize("layout", range(len(_LAYOUTS)))
def test_generated_writes_join_the_same_rows_pruned(lake: duckdb.DuckDBPyConnection, layout: int) -> None:
    pruning, statements = Pruning(lake, _LAYOUTS[layout]), Writes(SEED + layout)
    applied: Counter[str] = Counter()
    for _ in range(STATEMENTS):
        sql = statements.next().format(t=TARGET)
        pruned = pruning.prune(sql)
        if pruned.rewritten_sql is None:
            continue
        applied[sql.partition(" ")[0]] += 1
        before, after = rows_of(lake, asked(sql)), rows_of(lake, asked(pruned.rewritten_sql))
        assert before == after, f"{sql}\n{pruned.rewritten_sql}"
    assert set(applied) == {"DELETE", "INSERT", "MERGE", "UPDATE"}
