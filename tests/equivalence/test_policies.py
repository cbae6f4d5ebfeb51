"""Under random policies, a query returns the rows that it returns over views which show the same by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, given, note, reject, seed, settings
from pyiceberg.catalog.sql import SqlCatalog

from service.gateway import Gateway
from spark_session.engine.engine import SparkEngine
from tests.equivalence.generator import queries
from tests.equivalence.harness import EngineGaveUp, Harness, rows_of
from tests.equivalence.policed import POLICED, random_policies

SETS = 3
QUERIES_PER_SET = 25


@pytest.fixture(scope="module")
def make(gateway: Gateway, lake: SqlCatalog) -> Callable[[str], object]:
    """Runs a command at the catalog, as an administrator would in another Spark session."""
    lake.create_namespace(POLICED)
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    session = engine._session
    assert session is not None

    def run(command: str) -> None:
        with session.children.taken("lake", None, str(uuid4())) as child:
            child.sql(command)

    return run


def over_views(sql: str) -> str:
    """Returns the text with the views in place of the tables, where it names their schema."""
    return re.sub(r"\bshop\.", f"{POLICED}.", sql)


@pytest.mark.parametrize("number", range(SETS))
def test_random_policies_show_what_views_show(
    gateway: Gateway, make: Callable[[str], object], number: int
) -> None:
    policed = random_policies(Random(number))
    policed.make_views(make)
    by_hand = Harness(gateway, POLICED)
    harness = Harness(gateway, access=policed.access)

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
        note(sql)
        try:
            checked = harness.check(sql, compares_files=False)
        except EngineGaveUp:
            reject()
        assert rows_of(checked.written.rows) == rows_of(by_hand.run(over_views(sql)).rows), sql

    check()
