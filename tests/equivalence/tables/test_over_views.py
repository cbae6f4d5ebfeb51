"""The same queries over views: a schema has a view of each table, by the table's name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from service.gateway import Gateway
from spark_session.engine.engine import SparkEngine
from tests.equivalence.generated_checks import COUNT, TIMEOUT_S, check_generated, seed_of_run
from tests.equivalence.harness import Harness
from tests.equivalence.lakehouse import DIMENSIONS, FACTS
from tests.equivalence.texts.test_known_cases import NOT_PRUNED, PRUNED
from tests.equivalence.texts.test_odd_texts import fixture_texts
from tests.thorough import part_of

BEHIND = "behind"


@pytest.fixture(scope="module")
def behind(gateway: Gateway, lake: SqlCatalog) -> Iterator[Harness]:  # noqa: ARG001
    """Makes a view of every fact, and a view of a view of every dimension."""
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    made = {table: f"SELECT * FROM shop.{table}" for table in (*FACTS, *DIMENSIONS)}
    made |= {f"{table}_below": made[table] for table in DIMENSIONS}
    made |= {table: f"WITH t AS (SELECT * FROM {table}_below) SELECT t.* FROM t" for table in DIMENSIONS}
    with engine.session.children.taken("lake", "shop", "administrator") as child:
        child.sql(f"CREATE NAMESPACE lake.{BEHIND}")
        for name in sorted(made, key=lambda view: view not in FACTS and not view.endswith("_below")):
            child.sql(f"USE lake.{BEHIND}")
            child.sql(f"CREATE VIEW {name} AS {made[name]}")
        yield Harness(gateway, BEHIND)
        for name in made:
            child.sql(f"DROP VIEW lake.{BEHIND}.{name}")
        child.sql(f"DROP NAMESPACE lake.{BEHIND}")


def _is_of_views(sql: str) -> bool:
    """Returns whether a query can run over views, which have no versions and no files."""
    return " AS OF " not in sql and "_file" not in sql


# The same queries without views run in full; these need only show that views change nothing.
PRUNED_VIEWS = {name: PRUNED[name] for name in part_of([*PRUNED], 3) if _is_of_views(PRUNED[name][0])}
NOT_PRUNED_VIEWS = [sql for sql, _ in part_of([*NOT_PRUNED.values()], 3) if _is_of_views(sql)]
ODD_TEXTS = [text for text in part_of(fixture_texts("odd_texts.sql"), 3) if _is_of_views(text)]


@pytest.mark.parametrize(("sql", "columns"), PRUNED_VIEWS.values(), ids=PRUNED_VIEWS)
def test_a_scan_behind_a_view_is_pruned(sql: str, columns: set[str], behind: Harness) -> None:
    checked = behind.check(sql)
    assert columns <= checked.applied.keys(), checked.pruned.filters
    for column in columns:
        table = column.split(".")[0]
        assert checked.files(table).selected < max(1, checked.files(table).total)


@pytest.mark.parametrize("sql", NOT_PRUNED_VIEWS)
def test_a_scan_behind_a_view_is_not_pruned(sql: str, behind: Harness) -> None:
    assert behind.check(sql).applied == {}


@pytest.mark.parametrize("sql", ODD_TEXTS)
def test_an_odd_text_has_the_same_rows_over_views(sql: str, behind: Harness) -> None:
    behind.check(sql)


@pytest.mark.timeout(TIMEOUT_S)
def test_generated_queries_have_the_same_rows_over_views(behind: Harness) -> None:
    check_generated(behind, COUNT // 16, seed_of_run(), compares_files=False)
