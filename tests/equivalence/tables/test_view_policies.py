"""Under random policies of views, and of their definers, a query returns the rows that views by hand have.

Half of the views have a definer, whose row filters and masks hold below them. The caller has other row
filters and masks for the views, and no grant on the tables of views with a definer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, note, reject, seed, settings
from pyiceberg.catalog.sql import SqlCatalog

from service.errors.policy_errors import TableAccessDenied
from service.gateway import Gateway
from service.model.policies.actions import Action
from service.model.policies.policies import DefinerView, Grant, PolicySet
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from spark_session.engine.engine import SparkEngine
from tests.equivalence.generator import queries
from tests.equivalence.harness import EngineGaveUp, Harness, different_rows
from tests.equivalence.lakehouse import DIMENSIONS, FACTS, SCHEMA
from tests.equivalence.policed import ANALYST, Policed, random_policies
from tests.soak import SOAK

QUERIES_PER_SET = 100 if SOAK else 15
SETS = -(-SOAK.queries // QUERIES_PER_SET) if SOAK else 2
FIRST = SOAK.seed if SOAK else 0
TIMEOUT_S = 300 + QUERIES_PER_SET * 15
OWNER = "owner"
VIEWS, BY_HAND = "views_asked", "views_by_hand"
BELOW, BETWEEN = "views_below", "views_between"
CONDITIONS = ("TRUE", "coalesce(k, 0) <> 5", "name IS NULL OR length(name) < 5", "k BETWEEN 1 AND 9")
TABLES = (*FACTS, *DIMENSIONS)


@pytest.fixture(scope="module")
def engine(gateway: Gateway) -> SparkEngine:
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    return engine


@pytest.fixture(scope="module")
def make(engine: SparkEngine, lake: SqlCatalog) -> Callable[[str], object]:
    """Runs a command at the catalog, as an administrator would in another Spark session."""
    for schema in (VIEWS, BY_HAND, BELOW, BETWEEN):
        lake.create_namespace(schema)
    session = engine.session
    assert session is not None

    def run(command: str) -> None:
        with session.children.taken("lake", None, str(uuid4())) as child:
            child.sql(command)

    return run


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.parametrize("number", range(FIRST, FIRST + SETS))
def test_random_policies_of_views_show_what_views_by_hand_show(
    gateway: Gateway, engine: SparkEngine, make: Callable[[str], object], number: int
) -> None:
    random = Random(f"{number} views")
    owner = random_policies(random, OWNER)
    caller = random_policies(random, ANALYST, VIEWS)
    defined = frozenset(random.sample(TABLES, len(TABLES) // 2))
    _make_views(make, random, owner, caller, defined)
    asked = Harness(gateway, VIEWS, _access(engine, owner, caller, defined))
    by_hand = Harness(gateway, BY_HAND)

    @seed(number)
    @settings(
        max_examples=QUERIES_PER_SET,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(queries())
    def check(sql: str) -> None:
        over_views = re.sub(r"\bshop\.", f"{VIEWS}.", sql)
        note(over_views)
        expected = by_hand.run(re.sub(r"\bshop\.", f"{BY_HAND}.", sql)).rows
        try:
            checked = asked.check(over_views, compares_files=False)
        except EngineGaveUp:
            reject()
        different = different_rows(expected, checked.written.rows)
        assert not different, f"{over_views}\n{different}"

    check()
    with pytest.raises(TableAccessDenied):
        asked.run(f"SELECT count(*) FROM {SCHEMA}.{min(defined)}")


def _make_views(
    make: Callable[[str], object], random: Random, owner: Policed, caller: Policed, defined: frozenset[str]
) -> None:
    owner.make_views(make, BELOW)
    for table in TABLES:
        condition = random.choice(CONDITIONS)
        below = BELOW if table in defined else SCHEMA
        for schema, read in ((VIEWS, SCHEMA), (BETWEEN, below)):
            make(f"DROP VIEW IF EXISTS {schema}.{table}")
            make(f"CREATE VIEW {schema}.{table} AS SELECT * FROM {read}.{table} WHERE {condition}")
    caller.make_views_over(make, BY_HAND, BETWEEN)


def _access(engine: SparkEngine, owner: Policed, caller: Policed, defined: frozenset[str]) -> RoleAccess:
    assert engine.session is not None
    views = [TableName("lake", VIEWS, table) for table in sorted(defined)]
    with engine.session.children.taken("lake", None, str(uuid4())) as child:
        definitions = [engine.session.table_guards.definition(child, view) for view in views]
    own = [f"lake.{VIEWS}.*", *(f"lake.{SCHEMA}.{table}" for table in TABLES if table not in defined)]
    policies = PolicySet(
        1,
        (
            *(Grant(ANALYST, Action.SELECT, TablePattern.parse(pattern)) for pattern in own),
            *owner.policies.grants,
        ),
        (*owner.policies.row_filters, *caller.policies.row_filters),
        (*owner.policies.column_masks, *caller.policies.column_masks),
        tuple(
            DefinerView(OWNER, view, definition or "")
            for view, definition in zip(views, definitions, strict=True)
        ),
    )
    return RoleAccess(CompiledPolicies(policies), frozenset({ANALYST}))
