"""Keys and rows of a small dimension come from one pass over its files, and the rows are right."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
    TimestamptzType,
    UUIDType,
)

from service.gateway import Gateway
from service.model.filters.key_set import FilterSource
from service.model.filters.relations import RelationBounds
from service.model.query.rewrites import RewriteKind
from service.query.filtering.prune import Pruner
from service.query.filtering.pruned_query import PrunedQuery
from spark_session.engine.engine import SparkEngine
from tests.equivalence.harness import Harness, rows_of
from tests.equivalence.lakehouse import SCHEMA, Layout, append, created

EXACT: dict[str, tuple[IcebergType, list[Any]]] = {
    "truth": (BooleanType(), [True, False, None]),
    "whole": (IntegerType(), [-(2**31), 2**31 - 1, None]),
    "longer": (LongType(), [-(2**63), 2**63 - 1, None]),
    "single": (FloatType(), [-0.0, math.nan, 1.1]),
    "twice": (DoubleType(), [-0.0, math.inf, math.nan]),
    "small": (DecimalType(9, 2), [Decimal("-9999999.99"), Decimal("0.10"), None]),
    "large": (DecimalType(38, 10), [Decimal("-1234567890123456789012345678.0123456789"), Decimal(0), None]),
    "day": (DateType(), [date(1, 1, 1), date(9999, 12, 31), None]),
    "at": (TimestampType(), [datetime(1, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999_999), None]),
    "moment": (
        TimestamptzType(),
        [datetime(1500, 2, 28, tzinfo=UTC), datetime(2024, 10, 27, 0, 30, tzinfo=UTC), None],
    ),
    "said": (StringType(), ["", "Zoë \U0001f600\0'`", None]),
    "raw": (BinaryType(), [b"", b"\x00\xff", None]),
}
INEXACT: dict[str, tuple[IcebergType, list[Any]]] = {
    "listed": (ListType(50, StringType(), element_required=False), [["a", None], [], None]),
    "held": (StructType(NestedField(51, "x", IntegerType())), [{"x": 1}, {"x": None}, None]),
    "same": (UUIDType(), [UUID(int=1).bytes, UUID(int=2**100).bytes, None]),
    "fixed": (FixedType(2), [b"ab", b"\x00\x01", None]),
}
JOINED = "FROM by_k f JOIN {table} d ON f.k = d.k WHERE d.year = 1999"
KEYS = [2, 2, 5, None]

Made = Callable[..., str]


def kinds(pruned: PrunedQuery) -> set[RewriteKind]:
    return {rewrite.kind for rewrite in pruned.rewrites}


def is_read_once(pruned: PrunedQuery) -> bool:
    return RewriteKind.ONE_READING in kinds(pruned)


@pytest.fixture(scope="module")
def made(lake: SqlCatalog, harness: Harness) -> Made:  # noqa: ARG001
    """Makes a new dimension with the columns `k`, `year` and the given ones."""
    numbers = iter(range(1000))

    def make(columns: dict[str, tuple[IcebergType, list[Any]]] | None = None, key: str = "k") -> str:
        wanted = columns or {"said": EXACT["said"]}
        types: dict[str, IcebergType] = {
            key: IntegerType(), "year": IntegerType(), **{name: kind for name, (kind, _) in wanted.items()}
        }  # fmt: skip
        name = f"once_{next(numbers)}"
        table = created(lake, name, types, Layout())
        for year in (1999, 2000):
            rows = [
                {key: k, "year": year, **{of: values[number % 3] for of, (_, values) in wanted.items()}}
                for number, k in enumerate(KEYS)
            ]
            append(table, rows)
        return name

    return make


@pytest.fixture
def pruner(gateway: Gateway, harness: Harness) -> Iterator[Pruner]:  # noqa: ARG001
    pruner = gateway.queries.ports.pruner
    bounds, large = pruner._bounds, pruner._relations._bounds
    yield pruner
    pruner._bounds, pruner._relations._bounds = bounds, large


def executions(gateway: Gateway) -> int:
    """Returns the number of queries that Spark has run."""
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    root: Any = engine.session.children._root
    return int(root._jsparkSession.sharedState().statusStore().executionsCount())


@pytest.mark.parametrize(
    "select", ["SELECT f.id, d.said", "SELECT f.id"], ids=["with its rows", "by its keys"]
)
def test_a_cold_query_reads_the_dimension_once(
    select: str, made: Made, harness: Harness, gateway: Gateway
) -> None:
    table = made()
    sql = f"{select} {JOINED.format(table=table)}"
    written = harness.run(sql)
    assert any(scan.table.endswith(table) for scan in written.scans)
    before = executions(gateway)
    cold = harness.prune(sql)
    # The engine was not used: the pass over the files for the keys also read the rows.
    assert executions(gateway) == before
    [record] = [rewrite for rewrite in cold.rewrites if rewrite.kind is RewriteKind.ONE_READING]
    assert (record.table, record.table_reference, record.filter_id) == (f"lake.{SCHEMA}.{table}", 2, "df1")
    assert record.detail == "its rows and the keys of k were collected in one reading"
    result = harness.run(cold.sql, (), cold)
    assert not any(scan.table.endswith(table) for scan in result.scans)
    assert rows_of(result.rows) == rows_of(written.rows) != rows_of(written.rows.slice(0, 0))


@pytest.mark.parametrize(
    "condition", ["length(d.said) = 0", "(d.said <> 'x' OR d.k = 5)", "d.said || '' = ''"]
)
@pytest.mark.parametrize("select", ["SELECT f.id, d.said, d.k", "SELECT f.id"], ids=["rows", "keys"])
def test_a_condition_that_only_the_engine_reads_is_asked_once(
    select: str, condition: str, made: Made, harness: Harness
) -> None:
    table = made()
    sql = f"{select} {JOINED.format(table=table)} AND {condition}"
    checked = harness.check(sql)
    assert is_read_once(checked.pruned)
    assert "by_k.k" in checked.applied
    assert not any(scan.table.endswith(table) for scan in checked.filtered.scans)
    assert checked.filtered.rows.num_rows


def test_a_null_that_is_a_key_is_one_of_rows_that_the_engine_read(made: Made, harness: Harness) -> None:
    sql = f"SELECT f.id, d.said FROM by_k f JOIN {made()} d ON f.k <=> d.k WHERE length(d.said) >= 0"
    assert is_read_once(harness.check(sql).pruned)


@pytest.mark.parametrize("column", EXACT)
def test_rows_of_every_exact_type_are_those_of_the_files(column: str, made: Made, harness: Harness) -> None:
    table = made({column: EXACT[column]})
    value = f"d.{column}"
    text = f"hex({value})" if column == "raw" else f"CAST({value} AS STRING)"
    sql = (
        f"SELECT f.id, d.k, {text}, hash({value}), typeof({value}), {value} IS NULL"
        f" {JOINED.format(table=table)}"
    )
    checked = harness.check(sql)
    assert is_read_once(checked.pruned)
    assert checked.filtered.rows.schema == checked.written.rows.schema


@pytest.mark.parametrize("column", INEXACT)
def test_rows_of_other_types_are_read_from_their_files(column: str, made: Made, harness: Harness) -> None:
    table = made({column: INEXACT[column]})
    checked = harness.check(f"SELECT f.id, CAST(d.{column} AS STRING) {JOINED.format(table=table)}")
    assert not is_read_once(checked.pruned)
    assert "by_k.k" in checked.applied
    # The other query does not name the column, so its values are not needed.
    other = JOINED.format(table=table).replace("1999", "2000")
    assert is_read_once(harness.check(f"SELECT f.id, d.year {other}").pruned)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT f.id, d.k, d.said FROM {d} d LEFT JOIN by_k f ON f.k = d.k WHERE d.year = 1999",
        "SELECT f.id, d.k, d.said FROM by_k f JOIN {d} d ON f.k <=> d.k WHERE d.year = 1999",
        "SELECT f.id, d.k, d.said FROM by_k f RIGHT JOIN {d} d ON f.k = d.k WHERE d.year = 1999",
        "SELECT count(d.k) FROM by_k f, {d} d WHERE f.k = d.k AND d.year = 1999 AND d.k IS NOT NULL",
    ],
    ids=["kept by an outer join", "equal to NULL", "kept on the right", "asked away"],
)
def test_rows_without_a_key_are_there_where_a_join_needs_them(sql: str, made: Made, harness: Harness) -> None:
    assert is_read_once(harness.check(sql.format(d=made())).pruned)


def test_two_keys_of_one_dimension_bring_its_rows_once(made: Made, harness: Harness) -> None:
    table = made({"other": (IntegerType(), [2, 5, 5])})
    sql = (
        f"SELECT f.id, g.id AS g_id, d.other FROM {table} d JOIN by_k f ON f.k = d.k"
        " JOIN sorted_by_k g ON g.k = d.other WHERE d.year = 1999"
    )
    checked = harness.check(sql)
    assert {"by_k.k", "sorted_by_k.k"} <= checked.applied.keys()
    together = [rewrite for rewrite in checked.pruned.rewrites if rewrite.kind is RewriteKind.ONE_READING]
    assert len(together) == 1


def test_names_are_the_tables_own(made: Made, harness: Harness) -> None:
    table = made({"Said Twice": EXACT["said"], "SHOUTED": EXACT["whole"]}, key="Key`d")
    sql = (
        f"SELECT f.id, D.`said twice`, d.shouted AS Shouted FROM by_k f JOIN {table} d ON f.k = d.`key``d`"
        " WHERE d.YEAR = 1999"
    )
    assert is_read_once(harness.check(sql).pruned)


@pytest.mark.parametrize("table", ["thinned", "vectored", "evolved", "by_both"])
def test_deletes_and_changed_layouts_are_heeded(table: str, harness: Harness) -> None:
    sql = f"SELECT f.id, d.id, d.price, d.at_utc FROM by_k f JOIN {table} d ON f.k = d.k WHERE d.b > 2"
    assert is_read_once(harness.check(sql).pruned)


def test_an_older_version_is_read_as_it_was(made: Made, harness: Harness, lake: SqlCatalog) -> None:
    table = made()
    first, _ = lake.load_table(f"{SCHEMA}.{table}").history()
    joined = JOINED.format(table=f"{table} VERSION AS OF {first.snapshot_id}")
    checked = harness.check(f"SELECT f.id, d.said {joined}")
    assert is_read_once(checked.pruned)
    now = harness.check(f"SELECT f.id, d.said {JOINED.format(table=table).replace('1999', '2000')}")
    assert is_read_once(now.pruned)
    then = harness.check(f"SELECT f.id, d.said {joined.replace('1999', '2000')}")
    assert now.filtered.rows.num_rows > then.filtered.rows.num_rows == 0


def test_a_commit_in_between_changes_neither_keys_nor_rows(
    made: Made, harness: Harness, lake: SqlCatalog
) -> None:
    table = made()
    sql = f"SELECT f.id, d.said {JOINED.format(table=table)}"
    expected = rows_of(harness.run(sql).rows)
    pruned = harness.prune(sql)
    append(lake.load_table(f"{SCHEMA}.{table}"), [{"k": 7, "year": 1999, "said": "late"}])
    assert is_read_once(pruned)
    assert rows_of(harness.run(pruned.sql, (), pruned).rows) == expected
    again = harness.check(sql)
    sources = {found.source for found in again.pruned.filters if found.is_applied}
    assert sources == {FilterSource.CARRIED_OVER}, "only the added file is read"
    assert rows_of(again.filtered.rows) - expected


def test_keys_that_are_cached_are_not_collected_again_for_the_rows(
    made: Made, harness: Harness, gateway: Gateway
) -> None:
    sql = f"SELECT f.id, d.said {JOINED.format(table=made())}"
    assert is_read_once(harness.prune(sql))
    known = harness.prune(sql)
    assert RewriteKind.LOCAL_RELATION in kinds(known)
    assert not is_read_once(known)
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    engine.session.relations._cached.clear()
    forgotten = harness.prune(sql)
    [found] = [filter_ for filter_ in forgotten.filters if filter_.is_applied]
    assert found.source is FilterSource.CACHED
    assert not kinds(forgotten) & {RewriteKind.ONE_READING, RewriteKind.LOCAL_RELATION}


@pytest.mark.parametrize("kind", [RewriteKind.ONE_READING, RewriteKind.LOCAL_RELATION])
def test_it_can_be_switched_off(kind: RewriteKind, made: Made, harness: Harness, pruner: Pruner) -> None:
    rewrites = pruner._bounds.rewrites
    pruner._bounds = replace(pruner._bounds, rewrites=replace(rewrites, kinds=rewrites.kinds - {kind}))
    checked = harness.check(f"SELECT f.id, d.said {JOINED.format(table=made())}")
    assert "by_k.k" in checked.applied
    assert not kinds(checked.pruned) & {RewriteKind.ONE_READING, RewriteKind.LOCAL_RELATION}


@pytest.mark.parametrize(
    "bounds", [RelationBounds(max_rows=3, max_bytes=8 << 20), RelationBounds(max_rows=30_000, max_bytes=100)]
)
@pytest.mark.parametrize("condition", ["d.k > 0", "length(d.said) >= 0"])
def test_rows_that_are_not_few_are_read_from_their_files(
    condition: str, bounds: RelationBounds, made: Made, harness: Harness, pruner: Pruner
) -> None:
    pruner._relations._bounds = bounds
    checked = harness.check(f"SELECT f.id, d.said {JOINED.format(table=made())} OR {condition}")
    assert "by_k.k" in checked.applied
    assert not is_read_once(checked.pruned)
