"""Under random policies, a query returns the rows that it returns over views which show the same by hand.

Two callers with different policies send each text in turn, so that keys and rows which were cached for one of
them are there when the other asks. A soak of 20,000 queries is 10,000 texts, each under two sets of policies.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from uuid import uuid4

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, note, reject, seed, settings
from pyiceberg.catalog.sql import SqlCatalog

from service.errors.gateway_error import CallerError
from service.errors.query_errors import QueryFailed
from service.gateway import Gateway
from spark_session.engine.engine import SparkEngine
from tests.equivalence.generator import queries
from tests.equivalence.harness import EngineGaveUp, Harness, different_rows
from tests.equivalence.policed import random_policies
from tests.soak import SOAK

TEXTS_PER_SET = 100 if SOAK else 15
SETS = -(-SOAK.queries // (2 * TEXTS_PER_SET)) if SOAK else 2
FIRST = SOAK.seed if SOAK else 0
TIMEOUT_S = 300 + TEXTS_PER_SET * 15
SCHEMAS = ("policed_first", "policed_second")
"""The views of the two callers."""


@dataclass(frozen=True, slots=True)
class Asking:
    """One caller: its own queries, and the same over its views."""

    own: Harness
    by_hand: Harness
    schema: str

    def expected(self, sql: str) -> pa.Table:
        """Returns the rows over the views, which stand in place of the tables where the text names them.

        Raises:
            EngineGaveUp: there are no rows to compare with.
        """
        return self.by_hand.written(re.sub(r"\bshop\.", f"{self.schema}.", sql)).rows

    def as_written(self, sql: str) -> pa.Table:
        """Returns the rows of the query without our filters."""
        return self.own.run(sql).rows

    def pruned(self, sql: str) -> pa.Table | None:
        """Returns the rows of the pruned text; None if nothing is pruned, or the engine rejects that text."""
        pruned = self.own.prune(sql)
        if pruned.rewritten_sql is None:
            return None
        try:
            return self.own.run(pruned.sql, (), pruned).rows
        except (CallerError, QueryFailed):
            return None


WAYS = (Asking.as_written, Asking.pruned, Asking.pruned)
"""Pruned twice: the second time with keys, and often with rows, that are cached."""


@pytest.fixture(scope="module")
def make(gateway: Gateway, lake: SqlCatalog) -> Callable[[str], object]:
    """Runs a command at the catalog, as an administrator would in another Spark session."""
    for schema in SCHEMAS:
        lake.create_namespace(schema)
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    session = engine.session
    assert session is not None

    def run(command: str) -> None:
        with session.children.taken("lake", None, str(uuid4())) as child:
            child.sql(command)

    return run


@pytest.mark.timeout(TIMEOUT_S)
@pytest.mark.parametrize("number", range(FIRST, FIRST + SETS))
def test_random_policies_show_what_views_show(
    gateway: Gateway, make: Callable[[str], object], number: int
) -> None:
    callers = [_asking(gateway, make, number, schema) for schema in SCHEMAS]

    @seed(number)
    @settings(
        max_examples=TEXTS_PER_SET,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    @given(queries())
    def check(sql: str) -> None:
        note(sql)
        try:
            expected = {asking.schema: asking.expected(sql) for asking in callers}
        except EngineGaveUp:
            reject()
        for asking, find in ((caller, find) for find in WAYS for caller in callers):
            found = find(asking, sql)
            different = found is not None and different_rows(expected[asking.schema], found)
            assert not different, f"{asking.schema}: {sql}\n{different}"

    check()


def _asking(gateway: Gateway, make: Callable[[str], object], number: int, schema: str) -> Asking:
    policed = random_policies(Random(f"{number} {schema}"))
    policed.make_views(make, schema)
    return Asking(Harness(gateway, access=policed.access), Harness(gateway, schema), schema)
