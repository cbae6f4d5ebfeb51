"""Facts of texts under policies and over views, as the engine reads them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from uuid import uuid4

import pytest

from service.errors.policy_errors import TableAccessDenied
from service.errors.table_errors import ViewChanged
from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.policies.policies import ColumnMask, DefinerView, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.query.reuse import QueryFacts, Reusability
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.ports.engine.query_engine import Statement
from service.query.reuse.result_key import policy_fingerprint
from spark_session.engine.engine import SparkEngine
from spark_session.engine.reuse_facts import SparkViewStates
from spark_session.settings.settings import SparkSettings
from tests.contract.test_views import command
from tests.integration.engines import jars
from tests.integration.policies.test_policed_views import LAKE

pytestmark = pytest.mark.integration

ORDERS = TableName("lake", "shop", "orders")
ON_ORDERS = TablePattern.parse(str(ORDERS))
PLAIN, OUTER = TableName("lake", "shop", "plain"), TableName("lake", "shop", "outer_plain")
NAMES = ("orders", "plain", "outer_plain", "at_first", "mine")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkEngine]:
    folder = tmp_path_factory.mktemp("engine")
    engine = SparkEngine(SparkSettings("local[2]", jars(), folder, LAKE, ("lake",), "lake", "1g"))
    engine.start()
    command(engine, "CREATE NAMESPACE lake.shop", schema=None)
    command(engine, "CREATE TABLE orders (id INT, region STRING, amount INT, card STRING)")
    command(engine, "INSERT INTO orders VALUES (1, 'A', 3, 'c1'), (2, 'B', 4, 'c2')")
    command(engine, "ALTER TABLE lake.shop.orders CREATE TAG first")
    command(engine, "CREATE VIEW plain AS SELECT id, region, card FROM orders")
    command(engine, "CREATE VIEW outer_plain AS SELECT id, region, card FROM plain WHERE id < 9")
    command(engine, "CREATE VIEW at_first AS SELECT id FROM lake.shop.orders VERSION AS OF 'first'")
    command(engine, "CREATE VIEW mine AS SELECT id, current_user() AS who FROM orders")
    yield engine
    engine.close()
    del engine
    gc.collect()


def facts(engine: SparkEngine, sql: str, access: Access = FULL_ACCESS) -> QueryFacts:
    return engine.facts_of(
        Statement(uuid4(), sql, (), "lake", "shop", 100, 10**6, lambda: False, access, caller="ada")
    )


def access(
    *names: str,
    where: str | None = None,
    mask: str | None = None,
    definers: tuple[DefinerView, ...] = (),
) -> RoleAccess:
    grants = tuple(
        Grant("r", Action.SELECT, TablePattern.parse(f"lake.shop.{name}")) for name in names or NAMES
    )
    of_definer = Grant("definer", Action.SELECT, ON_ORDERS)
    filters = () if where is None else (RowFilter("r", ON_ORDERS, where),)
    masks = () if mask is None else (ColumnMask("r", ON_ORDERS, "card", mask),)
    policies = PolicySet(1, (*grants, of_definer), filters, masks, definers)
    return RoleAccess(CompiledPolicies(policies), frozenset({"r"}))


def test_the_plan_has_the_table_and_all_views_with_their_states(engine: SparkEngine) -> None:
    found = facts(engine, "SELECT o.id FROM outer_plain o JOIN plain p ON o.id = p.id")
    assert (found.tables, found.reusability) == ((ORDERS,), Reusability.REUSABLE)
    assert found.views.keys() == {PLAIN, OUTER}
    assert len(found.definitions) == 2
    states = SparkViewStates(lambda: engine.session)
    assert states.states_of([PLAIN, OUTER]) == found.views
    assert states.states_of([TableName("lake", "shop", "missing")]) == {}
    assert {read.table for read in found.reads} == {ORDERS}


def test_a_replaced_view_has_another_state_even_if_it_is_the_same_again(engine: SparkEngine) -> None:
    command(engine, "CREATE OR REPLACE VIEW again AS SELECT id FROM orders")
    first = facts(engine, "SELECT * FROM again")
    command(engine, "CREATE OR REPLACE VIEW again AS SELECT amount AS id FROM orders")
    command(engine, "CREATE OR REPLACE VIEW again AS SELECT id FROM orders")
    assert facts(engine, "SELECT * FROM again").views != first.views


def test_no_session_means_no_states() -> None:
    assert SparkViewStates(lambda: None).states_of([PLAIN]) == {}


@pytest.mark.parametrize(
    ("where", "mask", "expected"),
    [
        ("region = 'A'", None, Reusability.REUSABLE),
        ("region = 'A'", "concat('x', right(card, 1))", Reusability.REUSABLE),
        ("region = current_user()", None, Reusability.TIME_DEPENDENT),
        (None, "current_user()", Reusability.TIME_DEPENDENT),
        (None, "CAST(current_date() AS STRING)", Reusability.TIME_DEPENDENT),
        (None, "uuid()", Reusability.NONDETERMINISTIC),
    ],
)
@pytest.mark.parametrize("sql", ["SELECT * FROM orders", "SELECT 1 / (id - 9) FROM outer_plain WHERE id > 1"])
def test_policies_are_part_of_what_is_decided(
    engine: SparkEngine, sql: str, where: str | None, mask: str | None, expected: Reusability
) -> None:
    found = facts(engine, sql, access(where=where, mask=mask))
    assert found.reusability is expected
    # Without them, and for the engine, the text reads the same.
    plain = facts(engine, sql)
    assert (plain.plan, plain.reusability) == (found.plan, Reusability.REUSABLE)


def test_a_view_of_a_version_and_one_of_the_caller(engine: SparkEngine) -> None:
    at_first = facts(engine, "SELECT * FROM at_first")
    assert (at_first.reusability, at_first.reads[0].is_version) == (Reusability.REUSABLE, True)
    assert facts(engine, "SELECT * FROM mine").reusability is Reusability.TIME_DEPENDENT


@pytest.mark.parametrize("names", [("plain",), ("orders",), ("plain", "outer_plain")])
def test_who_may_not_read_it_gets_the_engines_refusal_and_no_fingerprint(
    engine: SparkEngine, names: tuple[str, ...]
) -> None:
    sql = "SELECT * FROM outer_plain"
    with pytest.raises(TableAccessDenied):
        facts(engine, sql, access(*names))
    with pytest.raises(TableAccessDenied):
        policy_fingerprint(facts(engine, sql), access(*names))


def test_the_definer_of_a_view_is_decided_as_in_the_engine(engine: SparkEngine) -> None:
    assert engine.session is not None
    with engine.session.children.taken("lake", "shop", "administrator") as child:
        definition = engine.session.table_guards.definition(child, PLAIN)
    assert definition is not None
    right = DefinerView("definer", PLAIN, definition)
    sql = "SELECT * FROM plain"
    found = facts(engine, sql, access("plain", definers=(right,)))
    assert found.definitions[PLAIN.parts] == definition
    assert policy_fingerprint(found, access("plain", definers=(right,))) != ""
    wrong = DefinerView("definer", PLAIN, "0" * 64)
    for ask in (lambda one: facts(engine, sql, one), lambda one: policy_fingerprint(found, one)):
        with pytest.raises(ViewChanged):
            ask(access("plain", definers=(wrong,)))


def test_a_plan_says_which_state_was_read_whatever_was_committed_since(engine: SparkEngine) -> None:
    assert engine.session is not None
    facts = engine.session.reuse_facts
    with engine.session.children.taken("lake", "shop", "reader") as child:
        planned, analyzed = (child.sql("SELECT count(*) FROM orders") for _ in range(2))
        planned._jdf.queryExecution().executedPlan()
        before = facts.reads(planned)
        command(engine, "INSERT INTO orders VALUES (3, 'A', 5, 'c3')")
        assert ([row[0] for row in planned.collect()], facts.reads(planned)) == ([2], before)
        # Spark loads the tables of an analyzed query again before it plans it.
        assert [row[0] for row in analyzed.collect()] == [3]
        after = facts.reads(analyzed)
        again = child.sql("SELECT count(*) FROM orders")
        again.collect()
        assert facts.reads(again) == after != before


def test_a_run_says_which_state_it_has_read(engine: SparkEngine) -> None:
    sql = "SELECT count(*) FROM orders"
    statement = Statement(uuid4(), sql, (), "lake", "shop", 100, 10**6, lambda: False, FULL_ACCESS)
    first = engine.run(statement)
    found = first.reads()
    assert found is not None
    assert found.tables == facts(engine, sql).reads
    command(engine, "INSERT INTO orders VALUES (4, 'A', 5, 'c4')")
    assert first.reads() == found
    assert engine.run(statement).reads() != found
