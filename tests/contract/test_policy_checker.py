"""Checks which SQL Spark accepts in row filters and masks, and the promises that the fake keeps, too."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator

import pytest

from service.errors.gateway_error import CallerError
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import EngineNotReady
from service.model.policies.checks import CheckedPolicy, PolicyProblem
from service.model.policies.policies import ColumnMask, RowFilter
from service.model.policies.ready_masks import ReadyMask, expression_of
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName
from service.ports.stores.policy_store import PolicyChecker
from spark_session.engine.engine import SparkEngine
from spark_session.engine.policy_checks import SparkPolicyChecker
from spark_session.settings.settings import SparkSettings
from spark_session.vetting.functions import POLICY_SAFE
from tests.contract.test_views import command
from tests.engine_jars import engine_jars
from tests.fakes.policies import FakePolicyChecker

ORDERS = TableName("lake", "sales", "orders")
VIEW = TableName("lake", "sales", "by_region")
PATTERN = TablePattern.parse("lake.sales.*")
COLUMNS = {
    "id": "BIGINT",
    "region": "STRING",
    "amount": "DECIMAL(7, 2)",
    "card": "STRING",
    "day": "DATE",
    "at": "TIMESTAMP",
    "at_ntz": "TIMESTAMP_NTZ",
    "flag": "BOOLEAN",
    "data": "BINARY",
    "tags": "MAP<STRING, INT>",
    "parts": "ARRAY<STRUCT<a: INT, b: STRING>>",
    "place": "STRUCT<city: STRING, `odd``name`: INT>",
    "odd`{c} name": "STRING",
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkEngine]:
    folder = tmp_path_factory.mktemp("engine")
    lake = {
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog",
        "spark.sql.catalog.lake.warehouse": "memory:warehouse",
    }
    jars = engine_jars()
    engine = SparkEngine(SparkSettings("local[1]", jars, folder, lake, ("lake",), "lake", "1g"))
    engine.start()
    command(engine, "CREATE NAMESPACE lake.sales", schema=None)
    columns = ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in COLUMNS.items())
    command(engine, f"CREATE TABLE orders ({columns})", schema="sales")
    command(engine, "CREATE VIEW by_region AS SELECT region FROM orders", schema="sales")
    command(engine, "CREATE NAMESPACE lake.other", schema=None)
    yield engine
    engine.close()
    del engine
    gc.collect()


@pytest.fixture
def spark(engine: SparkEngine) -> PolicyChecker:
    return SparkPolicyChecker(lambda: engine.session, POLICY_SAFE)


@pytest.fixture(params=["fake", pytest.param("spark", marks=pytest.mark.integration)])
def checker(request: pytest.FixtureRequest) -> PolicyChecker:
    if request.param == "fake":
        return FakePolicyChecker({"nowhere = 1": "There is no column nowhere."}, {VIEW: "3f" * 32})
    found: PolicyChecker = request.getfixturevalue("spark")
    return found


def row_filter(predicate: str) -> RowFilter:
    return RowFilter("analyst", PATTERN, predicate)


def mask(column: str, expression: str) -> ColumnMask:
    return ColumnMask("analyst", PATTERN, column, expression)


def test_each_problem_names_its_policy_and_the_table(checker: PolicyChecker) -> None:
    right, wrong = row_filter("region = 'A'"), row_filter("nowhere = 1")
    assert list(checker.check(ORDERS, [right])) == []
    [problem] = checker.check(ORDERS, [right, wrong, mask("card", "left(card, 1)")])
    assert isinstance(problem, PolicyProblem)
    assert (problem.policy, problem.table) == (wrong, ORDERS)
    assert "There is no column nowhere." in problem.detail


ACCEPTED: list[CheckedPolicy] = [
    *map(
        row_filter,
        [
            "TRUE",
            "flag",
            "region = 'A' AND amount > 10 OR NOT flag",
            "region IN ('A', 'B') AND region NOT IN ('C') AND id BETWEEN 1 AND 9",
            "region LIKE 'A%' OR region IS NULL OR id IS NOT NULL",
            "id + 1 - 2 * 3 > id % 7 AND id / 2 < 5 AND -id < 3 AND id <=> 4",
            "day >= DATE '2026-01-01' AND at < TIMESTAMP '2026-01-01 00:00:00'",
            "year(day) = 2026 AND extract(MONTH FROM day) = 1 AND date_trunc('YEAR', at) = at",
            "CASE WHEN region = 'A' THEN flag ELSE FALSE END",
            "upper(region) = 'A' AND length(trim(card)) > 3 AND substring(card, 1, 2) = '41'",
            "region || card = 'x' AND concat(region, card) <> 'y' AND coalesce(region, '') = ''",
            "CAST(id AS STRING) = '1' AND id::STRING = '1'",
            "place.city = 'Bonn' AND tags['a'] = 1 AND parts[0].b = 'x' AND REGION = 'A'",
            "array_contains(array(1, 2), 1) AND size(parts) > 0",
            "region = 'it''s -- no comment' AND card = '/* nor this */'",
            "(region = 'A')",
            "`odd``{c} name` = 'x'",
        ],
    ),
    mask("card", "concat('****', right(card, 2))"),
    mask("CARD", "'*'"),
    mask("amount", "CAST(round(amount) AS DECIMAL(7, 2))"),
    mask("id", "id + 1"),
    mask("id", "if(flag, id, 0L)"),
    mask("place", "named_struct('city', upper(place.city), 'odd`name', 1)"),
]


@pytest.mark.integration
def test_conditions_and_expressions_of_a_row_are_accepted(spark: PolicyChecker) -> None:
    assert [(problem.policy, problem.detail) for problem in spark.check(ORDERS, ACCEPTED)] == []


REFUSED: list[tuple[CheckedPolicy, str]] = [
    (row_filter("region = 'A' FROM x"), "as one expression"),
    (row_filter("region = 'A') OR (TRUE"), "as one expression"),
    (row_filter("region = 'A'; DROP TABLE x"), "as one expression"),
    (row_filter("region, card"), "as one expression"),
    (row_filter("region ="), "as one expression"),
    (row_filter("flag AS f"), "may not have: Alias"),
    (row_filter("flag -- comment"), "comment"),
    (row_filter("*"), "may not have: UnresolvedStar"),
    (row_filter(":p = 1"), "may not have"),
    (row_filter("? = 1"), "may not have"),
    (row_filter("id IN (SELECT 1)"), "subquery"),
    (row_filter("EXISTS (SELECT 1)"), "subquery"),
    (row_filter("id = (SELECT max(id) FROM lake.sales.orders)"), "subquery"),
    (row_filter("max(id) = 1"), "max"),
    (row_filter("count(DISTINCT id) = 1"), "several rows"),
    (row_filter("row_number() OVER (ORDER BY id) = 1"), "several rows"),
    (row_filter("rand() < 0.5"), "rand"),
    (row_filter("uuid() = 'a'"), "uuid"),
    (row_filter("now() > at"), "now"),
    (row_filter("current_date > day"), "no column current_date"),
    (row_filter("current_date() > day"), "current_date"),
    (row_filter("current_user = 'ada'"), "no column current_user"),
    (row_filter("user() = 'ada'"), "user"),
    (row_filter("session_user() = 'ada'"), "session_user"),
    (row_filter("input_file_name() = 'a'"), "input_file_name"),
    (row_filter("reflect('java.lang.System', 'exit', 1) = 'a'"), "reflect"),
    (row_filter("system.builtin.upper(region) = 'A'"), "system.builtin.upper"),
    (row_filter("lake.sales.f(region) = 'A'"), "lake.sales.f"),
    (row_filter("IDENTIFIER('region') = 'A'"), "may not have"),
    (row_filter("explode(parts) = 1"), "explode"),
    (row_filter("exists(parts, p -> p.a = 1)"), "may not have: LambdaFunction"),
    (row_filter("repeat(region, 1000000000) = 'A'"), "repeat"),
    (row_filter("region RLIKE '(a+)+b'"), "may not have"),
    (row_filter("orders.region = 'A'"), "without the table's name"),
    (row_filter("_file = 'a'"), "no column _file"),
    (row_filter("id"), "Its type is bigint; boolean is needed."),
    (row_filter("'true'"), "Its type is string; boolean is needed."),
    (row_filter("NULL"), "Its type is void; boolean is needed."),
    (row_filter("id = parts"), ""),
    (mask("card", "NULL"), "Its type is void; string is needed."),
    (mask("card", "1"), "Its type is int; string is needed."),
    (mask("id", "1"), "Its type is int; bigint is needed."),
    (mask("amount", "round(amount)"), "decimal(7,2) is needed."),
    (mask("nowhere", "'*'"), "no column of this name"),
    (mask("card", "(SELECT 'x')"), "subquery"),
]


@pytest.mark.integration
def test_everything_else_is_refused_with_a_reason(spark: PolicyChecker) -> None:
    found = {
        problem.policy: problem.detail for problem in spark.check(ORDERS, [policy for policy, _ in REFUSED])
    }
    missed = [
        (policy, found.get(policy)) for policy, reason in REFUSED if reason not in found.get(policy, "\0")
    ]
    assert missed == []


FITTING = {
    ReadyMask.NULL: set(COLUMNS),
    ReadyMask.HASH: {"region", "card", "odd`{c} name"},
    ReadyMask.LAST_FOUR: {"region", "card", "odd`{c} name"},
    ReadyMask.YEAR_ONLY: {"day", "at", "at_ntz"},
    ReadyMask.REDACT: {"region", "card", "odd`{c} name"},
}


@pytest.mark.integration
def test_ready_made_masks_fit_the_columns_that_they_are_for_and_no_others(spark: PolicyChecker) -> None:
    masks = [mask(column, expression_of(ready, column)) for ready in ReadyMask for column in COLUMNS]
    refused = {problem.policy for problem in spark.check(ORDERS, masks)}
    fitting = {
        ready: {column for column in COLUMNS if mask(column, expression_of(ready, column)) not in refused}
        for ready in ReadyMask
    }
    assert fitting == FITTING


@pytest.mark.integration
def test_ready_made_masks_have_the_values_that_the_documentation_says(engine: SparkEngine) -> None:
    assert engine.session is not None
    texts = "VALUES ('4111222233334444'), ('123'), (CAST(NULL AS STRING)) AS t(c)"
    dates = "VALUES (DATE '2026-07-31'), (CAST(NULL AS DATE)) AS t(c)"
    with engine.session.children.taken("lake", "sales", "test") as child:

        def seen(ready: ReadyMask, rows: str) -> list[object]:
            return [row[0] for row in child.sql(f"SELECT {expression_of(ready, 'c')} FROM {rows}").collect()]

        assert seen(ReadyMask.NULL, texts) == [None, None, None]
        assert seen(ReadyMask.LAST_FOUR, texts) == ["****4444", "****", None]
        assert seen(ReadyMask.REDACT, texts) == ["REDACTED", "REDACTED", None]
        assert [str(value) for value in seen(ReadyMask.YEAR_ONLY, dates)] == ["2026-01-01", "None"]
        first, second, none = seen(ReadyMask.HASH, texts)
        assert (len(str(first)), first == second, none) == (64, False, None)


@pytest.mark.integration
def test_row_filters_and_masks_are_checked_on_views_too(spark: PolicyChecker) -> None:
    found = spark.check(VIEW, [row_filter("region = 'A'"), row_filter("card = 'x'"), mask("region", "'*'")])
    assert [problem.policy for problem in found] == [row_filter("card = 'x'")]


def test_a_view_has_a_definition_and_other_names_have_none(checker: PolicyChecker) -> None:
    definition = checker.definition(VIEW)
    assert definition is not None
    assert re.fullmatch("[0-9a-f]{64}", definition)
    assert checker.definition(VIEW) == definition
    assert checker.definition(TableName("lake", "sales", "nowhere")) is None


@pytest.mark.integration
def test_a_definition_is_that_of_all_that_gives_a_view_its_rows(
    engine: SparkEngine, spark: PolicyChecker
) -> None:
    def defined(outer: str, inner: str, schema: str = "sales") -> str | None:
        command(engine, f"CREATE OR REPLACE VIEW lake.sales.inner_view AS {inner}", schema="sales")
        command(engine, f"CREATE OR REPLACE VIEW lake.sales.outer_view {outer}", schema=schema)
        return spark.definition(TableName("lake", "sales", "outer_view"))

    outer, inner = "AS SELECT id FROM lake.sales.inner_view", "SELECT id FROM orders"
    first = defined(outer, inner)
    others = [
        defined(outer, "SELECT id FROM orders WHERE id > 0"),
        defined(outer, inner, schema="other"),
        defined("(number) AS SELECT id FROM lake.sales.inner_view", inner),
        defined("AS SELECT id FROM  lake.sales.inner_view", inner),
        defined("AS SELECT id FROM lake.sales.orders", inner),
        defined("AS SELECT id FROM lake.sales.orders WHERE id IN (SELECT id FROM inner_view)", inner),
    ]
    assert len({first, *others}) == 1 + len(others)
    assert defined(outer, inner) == first
    assert spark.definition(ORDERS) is None


@pytest.mark.integration
def test_a_view_that_cannot_be_read_has_no_definition(engine: SparkEngine, spark: PolicyChecker) -> None:
    command(engine, "CREATE TABLE passing (id INT)", schema="sales")
    command(engine, "CREATE VIEW of_passing AS SELECT id FROM passing", schema="sales")
    command(engine, "DROP TABLE passing", schema="sales")
    with pytest.raises(CallerError):
        spark.definition(TableName("lake", "sales", "of_passing"))


@pytest.mark.integration
def test_a_table_that_is_not_there_is_named(spark: PolicyChecker) -> None:
    with pytest.raises(TableNotFound):
        spark.check(TableName("lake", "sales", "nowhere"), [row_filter("TRUE")])


def test_without_an_engine_nothing_is_accepted() -> None:
    with pytest.raises(EngineNotReady):
        SparkPolicyChecker(lambda: None, POLICY_SAFE).check(ORDERS, [row_filter("TRUE")])
    with pytest.raises(EngineNotReady):
        SparkPolicyChecker(lambda: None, POLICY_SAFE).definition(VIEW)
