"""Ways around a row filter or a mask that a naive rewrite leaves open: each shows only what policies show."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from service.errors.policy_errors import TableAccessDenied
from service.errors.query_errors import QueryFailed
from service.errors.statement_errors import StatementNotAllowed
from service.gateway import Gateway
from service.model.policies.actions import Action
from service.model.policies.policies import ColumnMask, DefinerView, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from spark_session.engine.engine import SparkEngine
from spark_session.engine.metadata.explained import HIDDEN_PLAN
from spark_session.engine.run_statement import HIDDEN_VALUES
from tests.equivalence.harness import Harness

TABLE = TablePattern.parse("lake.shop.by_k")
SHOP = TablePattern.parse("lake.shop.*")
VIEWS = {
    "seen": "SELECT id, k, name FROM by_k",
    "seen_through": "SELECT * FROM seen",
    "of_secret": "SELECT k FROM tiny",
    "secret_view": "SELECT k FROM by_k",
    "dim_seen": "SELECT * FROM dim",
}
SELECTED = (Grant("analyst", Action.SELECT, SHOP),)
DENIED = tuple(
    Grant("analyst", action, TablePattern.parse(f"lake.shop.{table}"), is_denial=True)
    for table in ("tiny", "secret_view")
    for action in (Action.SELECT, Action.DESCRIBE)
)


def access(roles: str, *grants: Grant) -> RoleAccess:
    policies = PolicySet(
        1,
        (*SELECTED, *DENIED, *grants),
        (RowFilter("analyst", TABLE, "k < 3"),),
        (ColumnMask("analyst", TABLE, "name", "concat('*', right(name, 1))"),),
    )
    return RoleAccess(CompiledPolicies(policies), frozenset(roles.split()))


@pytest.fixture(scope="module")
def analyst(gateway: Gateway, lake: SqlCatalog) -> Iterator[Harness]:
    """The harness of a principal that sees the rows of `by_k` with `k < 3`, with masked names."""
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    session = engine.session
    assert session is not None

    def run(command: str) -> None:
        with session.children.taken("lake", "shop", str(uuid4())) as child:
            child.sql(command)

    for name, text in VIEWS.items():
        run(f"CREATE VIEW {name} AS {text}")
    table = lake.load_table("shop.by_k")
    table.manage_snapshots().create_tag(table.snapshots()[-1].snapshot_id, "policed").commit()
    yield Harness(gateway, access=access("analyst"))
    table.manage_snapshots().remove_tag("policed").commit()
    for name in reversed(VIEWS):
        run(f"DROP VIEW {name}")


@pytest.fixture(scope="module")
def snapshot(lake: SqlCatalog) -> int:
    found = lake.load_table("shop.by_k").current_snapshot()
    assert found is not None
    return found.snapshot_id


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT k, name FROM by_k",
        "SELECT by_k.k, lake.shop.by_k.name FROM lake.shop.by_k",
        "FROM by_k SELECT k, name",
        "SELECT k, name FROM (TABLE by_k)",
        "FROM by_k |> SELECT k, name",
        "SELECT k, name FROM by_k VERSION AS OF {snapshot}",
        "SELECT k, name FROM by_k VERSION AS OF 'policed'",
        "SELECT k, name FROM by_k TIMESTAMP AS OF now()",
        "SELECT k, name FROM lake.shop.by_k.snapshot_id_{snapshot}",
        "SELECT k, name FROM lake.shop.by_k.tag_policed",
        "WITH c AS (SELECT * FROM by_k) SELECT a.k, a.name FROM c a JOIN c b ON a.id = b.id",
        "WITH by_k AS (SELECT * FROM lake.shop.by_k) SELECT k, name FROM by_k",
        "WITH RECURSIVE r (k, name, n) AS (SELECT k, name, 0 FROM by_k UNION ALL SELECT k, name, n + 1 FROM r"
        " WHERE n < 1) SELECT k, name FROM r WHERE n = 0",
        "SELECT k, name FROM seen",
        "SELECT k, name FROM seen_through",
        "SELECT k, name FROM lake.shop.seen_through AS v",
        "SELECT f.k, f.name FROM dim d, LATERAL (SELECT k, name FROM by_k WHERE by_k.k = d.k) f",
        "SELECT k, name FROM by_k UNION SELECT k, name FROM by_k",
        "SELECT x.k, (SELECT max(name) FROM by_k WHERE id = x.id) AS name FROM by_k x",
        "SELECT k, name FROM by_k WHERE EXISTS (SELECT 1 FROM by_k o WHERE o.id = by_k.id)",
        "SELECT k, name FROM by_k TABLESAMPLE (100 PERCENT)",
        "SELECT k, name FROM by_k LATERAL VIEW explode(array(1)) e AS x",
        "SELECT k, name FROM by_k UNPIVOT INCLUDE NULLS (v FOR c IN (weight)) ",
        "SELECT f.k, f.name FROM by_k f JOIN dim d ON f.k = d.k",
        # An error would say that a hidden row exists.
        "SELECT k, name FROM by_k WHERE 1 / (k - 5) < 9",
        "SELECT f.k, f.name FROM by_k f JOIN by_k o ON f.k = o.k WHERE 1 / (f.k - 5) < 9",
        "SELECT f.k, f.name FROM by_k f JOIN dim d ON f.k = d.k WHERE 1 / (f.k - 5) < 9 AND d.k <> 5",
        "SELECT k, max(name) AS name FROM by_k GROUP BY k, id HAVING sum(1 / (k - 5)) < 9",
        "SELECT k, name FROM by_k WHERE if(k = 5, raise_error('seen'), TRUE)",
    ],
)
def test_only_allowed_rows_and_masked_values_are_seen(sql: str, analyst: Harness, snapshot: int) -> None:
    checked = analyst.check(sql.format(snapshot=snapshot), compares_files=False)
    rows = checked.written.rows
    assert rows.num_rows > 0
    assert set(rows.column("k").to_pylist()) <= {-1, 0, 1, 2}
    assert all(
        name is None or (len(name) <= 2 and name[0] == "*") for name in rows.column("name").to_pylist()
    )


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT count(*) AS n FROM by_k", "SELECT count(*) AS n FROM by_k WHERE k < 3"),
        (
            "SELECT min(k) AS a, max(k) AS b FROM by_k",
            "SELECT min(k) AS a, max(k) AS b FROM by_k WHERE k < 3",
        ),
        ("SELECT count(*) AS n FROM by_k WHERE name = 'Ada'", "SELECT 0L AS n"),
        ("SELECT count(*) AS n FROM seen_through", "SELECT count(*) AS n FROM by_k WHERE k < 3"),
    ],
)
def test_statistics_of_files_show_no_more_than_the_rows(
    sql: str, expected: str, analyst: Harness, harness: Harness
) -> None:
    assert analyst.run(sql).rows.to_pylist() == harness.run(expected).rows.to_pylist()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM tiny",
        "SELECT 1 FROM tiny WHERE FALSE",
        "SELECT id FROM by_k WHERE k IN (SELECT k FROM tiny)",
        "SELECT id FROM by_k WHERE EXISTS (SELECT 1 FROM tiny)",
        "SELECT (SELECT max(k) FROM tiny)",
        "WITH c AS (SELECT k FROM tiny) SELECT * FROM c",
        "WITH unread AS (SELECT k FROM tiny) SELECT 1",
        "SELECT * FROM of_secret",
        "SELECT k FROM secret_view",
        "SELECT k FROM lake.shop.secret_view AS v",
        "SELECT k FROM by_k ORDER BY (SELECT max(k) FROM tiny)",
        *(
            f"SELECT * FROM lake.shop.by_k.{metadata}"
            for metadata in (
                "files",
                "entries",
                "manifests",
                "partitions",
                "all_data_files",
                "all_entries",
                "all_manifests",
                "data_files",
                "delete_files",
                "position_deletes",
            )
        ),
        "SELECT _file FROM by_k",
        "SELECT _pos FROM by_k",
        "SELECT id FROM by_k WHERE _partition IS NOT NULL",
        "SELECT * FROM lake.shop.tiny.snapshots",
    ],
)
def test_what_is_not_allowed_is_refused(sql: str, analyst: Harness) -> None:
    pruned = analyst.prune(sql)
    with pytest.raises((TableAccessDenied, StatementNotAllowed)) as refused:
        analyst.run(pruned.sql, (), pruned)
    assert "k < 3" not in str(refused.value)
    assert "concat" not in str(refused.value)


@pytest.mark.parametrize("metadata", ["snapshots", "history", "refs", "metadata_log_entries"])
def test_when_a_table_was_written_is_no_secret(metadata: str, analyst: Harness) -> None:
    assert analyst.run(f"SELECT * FROM lake.shop.by_k.{metadata}").rows.num_rows > 0


def test_plans_and_failures_show_neither_predicates_nor_values(analyst: Harness) -> None:
    assert analyst.run("SELECT k FROM by_k").plan_text() == HIDDEN_PLAN
    with pytest.raises(QueryFailed) as failed:
        analyst.run("SELECT CAST(name AS INT) FROM by_k")
    assert failed.value.detail == HIDDEN_VALUES


def test_each_of_two_callers_sees_their_own_rows_in_turn(
    gateway: Gateway, analyst: Harness, harness: Harness
) -> None:
    """Keys and cached rows of the other, cold and warm, are not used."""
    dimension = TablePattern.parse("lake.shop.dim")
    policies = PolicySet(
        1, (Grant("few", Action.SELECT, SHOP),), (RowFilter("few", dimension, "k IN (1, 2)"),)
    )
    few = Harness(gateway, access=RoleAccess(CompiledPolicies(policies), frozenset({"few"})))
    sql = "SELECT f.id, f.k FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year >= 1998"
    for _ in range(3):
        seen = {caller: caller.check(sql, compares_files=False) for caller in (harness, few, analyst)}
        keys = {
            caller: set(checked.filtered.rows.column("k").to_pylist()) for caller, checked in seen.items()
        }
        assert keys[few] == keys[harness] & {1, 2}
        assert keys[analyst] == keys[harness] & {-1, 0, 1, 2}


def test_callers_of_one_view_see_their_own_rows_in_turn(
    gateway: Gateway, analyst: Harness, harness: Harness
) -> None:
    """For one the view is replaced by its text, so that keys and rows of the table below it are cached."""
    view, dimension = TableName.of("lake.shop.dim_seen"), TablePattern.parse("lake.shop.dim")
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    with engine.session.children.taken("lake", "shop", str(uuid4())) as child:
        definition = engine.session.table_guards.definition(child, view)
    assert definition is not None
    granted = [
        Grant(role, Action.SELECT, TablePattern.parse(f"lake.shop.{table}"))
        for role, table in (("few", "*"), ("reader", "by_k"), ("reader", "dim_seen"), ("owner", "dim"))
    ]
    own = RowFilter("few", TablePattern.parse(str(view)), "k IN (1, 2)")
    of_owner = RowFilter("owner", dimension, "k IN (2, 3)")
    filtered = PolicySet(1, tuple(granted), (own,))
    owned = PolicySet(1, tuple(granted), (of_owner,), (), (DefinerView("owner", view, definition),))
    callers = {
        harness: None,
        analyst: {-1, 0, 1, 2},
        Harness(gateway, access=RoleAccess(CompiledPolicies(filtered), frozenset({"few"}))): {1, 2},
        Harness(gateway, access=RoleAccess(CompiledPolicies(owned), frozenset({"reader"}))): {2, 3},
    }
    sql = "SELECT f.id, f.k FROM by_k f JOIN dim_seen d ON f.k = d.k WHERE d.year >= 1998"
    for _ in range(3):
        seen = {
            caller: set(caller.check(sql, compares_files=False).filtered.rows.column("k").to_pylist())
            for caller in callers
        }
        everything = seen[harness]
        assert everything > {1, 2, 3}
        for caller, keys in callers.items():
            assert seen[caller] == (everything if keys is None else everything & keys)


def test_a_row_filter_on_a_dimension_prunes_the_fact(gateway: Gateway) -> None:
    dimension = TablePattern.parse("lake.shop.dim")
    policies = PolicySet(
        1, (Grant("few", Action.SELECT, SHOP),), (RowFilter("few", dimension, "year = 1999"),)
    )
    few = Harness(gateway, access=RoleAccess(CompiledPolicies(policies), frozenset({"few"})))
    checked = few.check("SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k")
    assert checked.applied
    assert 0 < checked.files("by_k").selected < checked.files("by_k").total


def test_a_masked_column_of_a_fact_is_not_pruned(gateway: Gateway) -> None:
    policies = PolicySet(
        1, (Grant("few", Action.SELECT, SHOP),), (), (ColumnMask("few", TABLE, "k", "k % 2"),)
    )
    few = Harness(gateway, access=RoleAccess(CompiledPolicies(policies), frozenset({"few"})))
    checked = few.check("SELECT f.id, f.k FROM by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999")
    assert not checked.applied
