"""Keys that are found in the kept rows of a wider set give the rows of a query without filters."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DateType, DecimalType, IntegerType, LongType, StringType

from service.gateway import Gateway
from service.model.filters.filter_record import FilterRecord
from service.model.filters.key_set import FilterSource
from service.model.policies.actions import Action
from service.model.policies.policies import ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.query.filtering.kept_sets import KeptBounds
from tests.equivalence.harness import Harness
from tests.equivalence.lakehouse import SCHEMA, Layout, append, created
from tests.integration.embedded_catalog import embedded_catalog
from tests.thorough import IS_THOROUGH

KEYS = 60
ROUNDS = 150 if IS_THOROUGH else 25
FIRST_DAY = date(2000, 12, 1)
DIMENSION = {
    "k": IntegerType(),
    "day": DateType(),
    "year": IntegerType(),
    "month": LongType(),
    "name": StringType(),
    "price": DecimalType(7, 2),
}
# The first names the columns that the others filter by.
NAMING = "SELECT min(d.day), min(d.month), min(d.name), min(d.price), count(*) AS n"
JOINED = " FROM contained_fact f JOIN {table} d ON f.k = d.k WHERE {where}"
NUMBERS = count()


@pytest.fixture
def kept(gateway: Gateway) -> Iterator[None]:
    """Key sets keep their rows during a test."""
    pruner = gateway.queries.ports.pruner
    kept_sets, detections = pruner._collector._uncached._kept_sets, pruner._detections
    assert kept_sets is not None
    before, looked_for = kept_sets._bounds, detections._bounds
    kept_sets._bounds = KeptBounds(max_sets=16, max_columns=8, max_rows=10_000, max_bytes=1 << 20)
    detections._bounds = replace(looked_for, is_keeping_rows=True)
    yield
    kept_sets._bounds, detections._bounds = before, looked_for


@pytest.fixture(scope="module")
def fact(lake: SqlCatalog) -> None:
    integer = IntegerType()
    layout = Layout((("k", IdentityTransform()),))
    table = created(lake, "contained_fact", {"k": integer, "v": integer}, layout)
    append(table, [{"k": key, "v": 1} for key in (*range(KEYS), None)])


@pytest.fixture
def dimension(lake: SqlCatalog, fact: None, kept: None, data_dir: Path) -> Iterator[Table]:  # noqa: ARG001
    name = f"contained_dim_{next(NUMBERS)}"
    append(created(lake, name, DIMENSION, Layout()), [_row(key) for key in range(KEYS)])
    with closing(embedded_catalog(data_dir)) as catalog:
        yield catalog.load_table(f"{SCHEMA}.{name}")


def _row(key: int) -> dict[str, Any]:
    day = FIRST_DAY + timedelta(days=7 * key)
    return {
        "k": key if key % 7 else None,
        "day": day if key % 11 else None,
        "year": day.year,
        "month": day.month,
        "name": (None, "a", "ab", "b", "é")[key % 5],
        "price": Decimal(key) / 4,
    }


def asked(dimension: Table, where: str, start: str = "SELECT count(*) AS n") -> str:
    return start + JOINED.format(table=dimension.name()[-1], where=where)


def applied(harness: Harness, sql: str) -> FilterRecord:
    [found] = harness.check(sql).applied.values()
    return found


def test_a_month_is_found_in_a_year(harness: Harness, dimension: Table) -> None:
    year = applied(harness, asked(dimension, "d.year = 2001", NAMING))
    assert year.source is FilterSource.COLLECTED
    march = applied(harness, asked(dimension, "d.month = 3 AND d.year = 2001"))
    [entry] = [each for each in _entries(harness) if each.predicate == "year = 2001"][:1]
    assert (march.source, march.detail) == (
        FilterSource.CONTAINED,
        f"The keys were found in the cached set {entry.fingerprint}.",
    )
    assert 0 < march.value_count < year.value_count
    again = harness.prune(asked(dimension, "d.month = 3 AND d.year = 2001"))
    assert [each.source for each in again.filters] == [FilterSource.CACHED]


IN_2001 = "d.day BETWEEN DATE '2001-01-01' AND DATE '2001-12-31'"
WITHIN: dict[str, tuple[str, str]] = {
    "range": (IN_2001, "d.day >= DATE '2001-03-01' AND d.day < DATE '2001-04-01'"),
    "list": ("d.name IN ('a', 'b', 'ab')", "d.name = 'b'"),
    "value_of_range": ("d.name >= 'a'", "d.name IN ('é', 'a')"),
    "decimals": ("d.price <= 7.25", "d.price BETWEEN 1.25 AND 5.00"),
    "text": ("upper(d.name) = 'A'", "d.month IN (2, 3) AND upper(d.name) = 'A'"),
    "key": ("d.year > 2000 AND length(d.name) = 1", "length(d.name) = 1 AND d.year = 2001 AND d.k < 20"),
}


@pytest.mark.parametrize(("wide", "contained"), WITHIN.values(), ids=WITHIN)
def test_conditions_within_others_need_no_collection(
    harness: Harness, dimension: Table, wide: str, contained: str
) -> None:
    assert applied(harness, asked(dimension, wide, NAMING)).source is FilterSource.COLLECTED
    assert applied(harness, asked(dimension, contained)).source is FilterSource.CONTAINED
    assert applied(harness, asked(dimension, wide)).source is FilterSource.CACHED


def test_a_commit_in_between_makes_it_collect_again(harness: Harness, dimension: Table) -> None:
    applied(harness, asked(dimension, "d.year = 2001", NAMING))
    append(dimension, [_row(17) | {"k": 3}])
    march = applied(harness, asked(dimension, "d.year = 2001 AND d.month = 3"))
    assert march.source is FilterSource.COLLECTED
    append(dimension, [_row(17) | {"k": 4}])
    march = applied(harness, asked(dimension, "d.year = 2001 AND d.month = 3"))
    assert march.source is FilterSource.CARRIED_OVER


def test_generated_conditions_have_the_rows_of_a_query_as_written(harness: Harness, dimension: Table) -> None:
    chosen = random.Random(73)
    sources: Counter[FilterSource] = Counter()
    applied(harness, asked(dimension, "d.year >= 2000", NAMING))
    for _ in range(ROUNDS):
        conditions = " AND ".join(_condition(chosen) for _ in range(chosen.randint(1, 3)))
        checked = harness.check(asked(dimension, f"d.year >= {chosen.choice((2000, 2001))} AND {conditions}"))
        sources.update(found.source for found in checked.pruned.filters if found.is_applied)
    assert sources[FilterSource.CONTAINED] > ROUNDS / 2


def test_callers_under_other_policies_find_no_keys_in_each_others_sets(
    harness: Harness, gateway: Gateway, dimension: Table
) -> None:
    table = TablePattern.parse(f"lake.shop.{dimension.name()[-1]}")
    policies = PolicySet(
        1,
        (Grant("few", Action.SELECT, TablePattern.parse("lake.shop.*")),),
        (RowFilter("few", table, "k > 10"),),
        (ColumnMask("few", table, "month", "month % 2"),),
    )
    few = Harness(gateway, access=RoleAccess(CompiledPolicies(policies), frozenset({"few"})))
    year, odd = asked(dimension, "d.year = 2001", NAMING), asked(dimension, "d.year = 2001 AND d.month = 1")
    sources = [applied(caller, sql).source for sql in (year, odd) for caller in (few, harness)]
    assert sources == [FilterSource.COLLECTED] * 2 + [FilterSource.CONTAINED] * 2
    of_few, of_all = (caller.prune(odd).filters[0].value_count for caller in (few, harness))
    assert of_few > of_all > 0, "a mask makes more months the first"
    alone = asked(dimension, "d.year = 2000", NAMING)
    assert applied(few, alone).source is FilterSource.COLLECTED
    within = asked(dimension, "d.year = 2000 AND d.month = 12")
    assert applied(harness, within).source is FilterSource.COLLECTED


def _condition(chosen: random.Random) -> str:
    month, day = chosen.randint(1, 12), FIRST_DAY + timedelta(days=chosen.randint(0, 420))
    return chosen.choice(
        (
            f"d.month = {month}",
            f"{month} >= d.month",
            f"d.month IN ({month}, {month + 1}, {month})",
            f"d.day < DATE '{day}'",
            f"d.day BETWEEN DATE '{day}' AND DATE '{day + timedelta(days=90)}'",
            f"d.name = '{chosen.choice(('a', 'ab', 'é'))}'",
            "d.name IS NULL",
            "d.day IS NOT NULL",
            f"d.price > {chosen.randint(0, 14)}.25",
            f"d.k <= {chosen.randint(0, KEYS)}",
        )
    )


def _entries(harness: Harness) -> Any:
    return harness._gateway.filters(100)
