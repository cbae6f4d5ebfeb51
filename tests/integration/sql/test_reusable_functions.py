"""No function of Spark whose value may differ from one run to the next makes a result that is reused."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from uuid import uuid4

import pytest

from service.errors.gateway_error import GatewayError
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import QueryRequest
from service.model.query.reuse import Reusability
from service.ports.engine.query_engine import Statement
from service.query.execution.same_rows import same_rows
from service.query.reuse.known_texts import KnownTexts
from service.query.reuse.result_key import TextKey
from spark_session.engine.engine import SparkEngine
from spark_session.vetting.functions import OFFERED, POLICY_SAFE
from spark_session.vetting.repeatable_plans import FILLS_IN_THE_DATE, OF_CHANCE, OF_MOMENT_OR_CALLER
from tests.fakes.clock import FakeClock
from tests.integration.sql.spark_parts import SparkParts

pytestmark = pytest.mark.integration

NEVER = {
    *("curdate", "current_date", "current_time", "current_timestamp", "localtimestamp", "now"),
    *("current_catalog", "current_database", "current_schema", "current_timezone", "version"),
    *("current_user", "session_user", "user"),
    *("rand", "randn", "random", "randstr", "uniform", "uuid", "shuffle"),
    *("monotonically_increasing_id", "spark_partition_id"),
    *("aes_encrypt", "from_csv", "from_json"),
}
LATER_S = 0.02


def statement(sql: str, caller: str) -> Statement:
    return Statement(uuid4(), sql, (), "lake", "shop", 1000, 10**7, lambda: False, FULL_ACCESS, caller=caller)


def reusability(engine: SparkEngine, sql: str) -> Reusability | None:
    """Returns what the gateway decides about the text; None if Spark refuses it."""
    texts, request = KnownTexts(FakeClock()), QueryRequest(sql)
    try:
        facts = engine.facts_of(statement(sql, "ada"))
    except GatewayError:
        return None
    texts.learn(TextKey.of(request), facts, request, FULL_ACCESS)
    return texts.reusability(TextKey.of(request), "")


def examples(engine: SparkEngine) -> Iterator[tuple[str, str]]:
    """Yields a text for each function that is offered."""
    for name, texts in SparkParts(engine).functions().items():
        if name in OFFERED:
            yield name, texts[0].rstrip(" ;") if texts else f"SELECT {name}(id) FROM sales"


@pytest.mark.timeout(1800)
def test_a_function_whose_values_differ_is_never_reused(engine: SparkEngine) -> None:
    found: Counter[Reusability] = Counter()
    reused: set[str] = set()
    wrong = []
    for name, sql in examples(engine):
        decided = reusability(engine, sql)
        if decided is None:
            continue
        found[decided] += 1
        if decided is not Reusability.REUSABLE:
            continue
        reused.add(name)
        # A function that may stand in a policy depends on its arguments alone, but for those of `NEVER`.
        if name in POLICY_SAFE:
            continue
        try:
            first = engine.run(statement(sql, "ada")).rows
            time.sleep(LATER_S)
            again = engine.run(statement(sql, "bob")).rows
        except GatewayError:
            continue
        if not same_rows(first, again):
            wrong.append((name, sql))
    assert not wrong
    assert not reused & NEVER
    # Most of Spark's functions calculate.
    assert found[Reusability.REUSABLE] > 300
    assert found[Reusability.NONDETERMINISTIC] >= 5
    assert found[Reusability.TIME_DEPENDENT] >= 10, found


def test_the_lists_name_expressions_of_spark(engine: SparkEngine) -> None:
    assert SparkParts(engine).expressions() >= OF_MOMENT_OR_CALLER | FILLS_IN_THE_DATE | OF_CHANCE


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("spark_partition_id() >= 0", Reusability.REUSABLE),
        ("spark_partition_id() >= 1", Reusability.NONDETERMINISTIC),
        ("spark_partition_id() >= id", Reusability.NONDETERMINISTIC),
        ("TIMESTAMP'2026-01-01' > '2026-01-01'", Reusability.REUSABLE),
        ("TIMESTAMP'2026-01-01' > '2026'", Reusability.REUSABLE),
        ("TIMESTAMP'2026-01-01' > '12:30'", Reusability.TIME_DEPENDENT),
        ("TIMESTAMP'2026-01-01' > concat('20', '26')", Reusability.TIME_DEPENDENT),
        ("TIMESTAMP'2026-01-01' > name", Reusability.TIME_DEPENDENT),
        ("DATE'2026-01-01' > name", Reusability.REUSABLE),
        ("DATE'2026-01-01' > concat('to', 'day')", Reusability.TIME_DEPENDENT),
        ("CAST('today' AS DATE) > DATE'2026-01-01'", Reusability.TIME_DEPENDENT),
        ("DATE /* x */ 'today' > DATE'2026-01-01'", Reusability.TIME_DEPENDENT),
        ("TIMESTAMP_NTZ'now' > DATE'2026-01-01'", Reusability.TIME_DEPENDENT),
        ("CAST(array(name) AS ARRAY<TIMESTAMP>)[0] IS NULL", Reusability.TIME_DEPENDENT),
        ("to_timestamp(name) IS NULL", Reusability.TIME_DEPENDENT),
        ("to_timestamp(name, 'yyyy') IS NULL", Reusability.REUSABLE),
        ("hour(name) = 1", Reusability.TIME_DEPENDENT),
        ("unix_timestamp() > 0", Reusability.TIME_DEPENDENT),
        ("id IN (SELECT id FROM sales WHERE rand() > 0)", Reusability.NONDETERMINISTIC),
        ("EXISTS (SELECT current_date())", Reusability.TIME_DEPENDENT),
        ("transform(array(1), x -> x + rand())[0] > 0", Reusability.NONDETERMINISTIC),
        ("nvl(nvl(nvl(name, now()), 'b'), 'c') = 'd'", Reusability.TIME_DEPENDENT),
    ],
)
def test_conditions(engine: SparkEngine, condition: str, expected: Reusability) -> None:
    assert reusability(engine, f"SELECT count(*) FROM sales WHERE {condition}") in (expected, None)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FROM sales VERSION AS OF {snapshot}", Reusability.REUSABLE),
        ("SELECT * FROM sales TIMESTAMP AS OF '2100-01-01 00:00:00'", Reusability.TIME_DEPENDENT),
        ("SELECT * FROM sales TIMESTAMP AS OF current_timestamp()", Reusability.TIME_DEPENDENT),
        ("SELECT * FROM lake.shop.sales.snapshot_id_{snapshot}", Reusability.OTHER_SOURCE),
        ("SELECT * FROM lake.shop.sales.branch_main", Reusability.OTHER_SOURCE),
        ("SELECT * FROM lake.shop.sales.snapshots", Reusability.OTHER_SOURCE),
        ("SELECT * FROM sales TABLESAMPLE (10 ROWS)", Reusability.REUSABLE),
        ("SELECT * FROM sales TABLESAMPLE (10 PERCENT) REPEATABLE (7)", Reusability.OTHER_SOURCE),
        ("SELECT * FROM sales LIMIT 3", Reusability.REUSABLE),
        ("SELECT * FROM IDENTIFIER('sa' || 'les')", Reusability.REUSABLE),
    ],
)
def test_sources(engine: SparkEngine, sql: str, expected: Reusability) -> None:
    rows = engine.run(statement("SELECT snapshot_id FROM lake.shop.sales.snapshots", "ada")).rows
    text = sql.format(snapshot=rows.column("snapshot_id")[0].as_py())
    assert reusability(engine, text) in (expected, None)
