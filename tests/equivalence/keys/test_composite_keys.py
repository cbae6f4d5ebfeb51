"""Keys of several columns: the same rows, and only the files of existing tuples."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import (
    BucketTransform,
    IdentityTransform,
    MonthTransform,
    Transform,
    TruncateTransform,
)
from pyiceberg.types import DateType, DecimalType, IcebergType, IntegerType, LongType, StringType

from service.gateway import Gateway
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterForm
from service.pruning.predicates.composite_predicate import TupleBounds
from spark_session.engine.engine import SparkEngine
from tests.equivalence.harness import Checked, Harness
from tests.equivalence.lakehouse import Layout, append, created

# The facts also have (2, 7), which combines values of two of these tuples.
PAIRS = "(VALUES (2, 1), (8, 7), (NULL, 7), (8, NULL)) AS d (k, b)"
LITERAL = "(k = 2 AND b = 1) OR (k = 8 AND b = 7)"

PRUNED = {
    "a join": f"SELECT f.id FROM by_pair f JOIN {PAIRS} ON f.k = d.k AND f.b = d.b",
    "a comma join": f"SELECT f.id FROM {PAIRS}, by_pair f WHERE d.b = f.b AND f.k = d.k",
    "a semi join": f"SELECT f.id FROM by_pair f LEFT SEMI JOIN {PAIRS} ON f.k = d.k AND f.b = d.b",
    "EXISTS": (
        f"SELECT f.id FROM by_pair f WHERE EXISTS (SELECT 1 FROM {PAIRS} WHERE f.k = d.k AND f.b = d.b)"
    ),
    "IN, and an equality with the row outside": (
        f"SELECT f.id FROM by_pair f WHERE f.k IN (SELECT d.k FROM {PAIRS} WHERE f.b = d.b)"
    ),
    "IN, of tuples": f"SELECT f.id FROM by_pair f WHERE (f.k, f.b) IN (SELECT d.k, d.b FROM {PAIRS})",
    "IN, of tuples in another order": (
        f"SELECT f.id FROM by_pair f WHERE (f.b, f.k) IN (SELECT d.b, d.k FROM {PAIRS})"
    ),
    "a derived table": (
        f"SELECT x.i FROM (SELECT b AS y, k AS x, id AS i FROM by_pair WHERE id > 0) x JOIN {PAIRS}"
        " ON x.x = d.k AND x.y = d.b"
    ),
    "GROUP BY both": (
        f"SELECT x.n FROM (SELECT k, b, count(*) AS n FROM by_pair GROUP BY k, b) x JOIN {PAIRS}"
        " ON x.k = d.k AND x.b = d.b"
    ),
    "equal by way of a third": (
        f"SELECT f.id FROM by_pair f JOIN dim x ON f.k = x.k JOIN {PAIRS} ON x.k = d.k AND f.b = d.b"
    ),
}

SAME_ROWS = {
    "tuples with a value in the text": (
        f"SELECT f.id FROM by_pair f WHERE (f.k, f.b, 1) IN (SELECT d.k, d.b, 1 FROM {PAIRS})"
    ),
    "tuples with NULLs on both sides": (
        "SELECT f.id FROM by_pair f WHERE (f.k, f.b) IN"
        " (SELECT k, b FROM VALUES (NULL, NULL), (2, NULL), (8, 7) AS d (k, b))"
    ),
    "NOT IN, of tuples": (
        "SELECT f.id FROM by_pair f WHERE (f.k, f.b) NOT IN (SELECT k, b FROM VALUES (2, 1) AS d (k, b))"
    ),
    "NOT IN, of tuples with a NULL": (
        f"SELECT f.id FROM by_pair f WHERE (f.k, f.b) NOT IN (SELECT d.k, d.b FROM {PAIRS})"
    ),
    "tuples with a cast and another type": (
        "SELECT f.id FROM by_pair f WHERE (CAST(f.k AS BIGINT), f.b) IN"
        " (SELECT d.big_k, d.text_k FROM dim d WHERE d.year = 1999)"
    ),
    "tuples of a union": (
        "SELECT f.id FROM by_pair f WHERE (f.k, f.b) IN (SELECT d.k, d.big_k FROM dim d WHERE d.year = 1999"
        " UNION SELECT t.k, t.parent FROM tiny t WHERE t.year = 2000)"
    ),
    "tuples whose keys are grouped": (
        "SELECT f.id FROM by_pair f WHERE (f.k, f.b) IN"
        " (SELECT d.k, max(d.big_k) FROM dim d WHERE d.year = 1999 GROUP BY d.k HAVING count(*) > 0)"
    ),
    "tuples of an aggregate over nothing": (
        "SELECT f.id FROM by_pair f WHERE (f.k, f.b) IN"
        " (SELECT count(*), max(d.k) FROM dim d WHERE d.year = 1900)"
    ),
    "tuples of a subquery with LIMIT": (
        "SELECT f.id FROM by_pair f WHERE (f.k, f.b) IN"
        " (SELECT d.k, d.big_k FROM dim d WHERE d.year = 1999 ORDER BY d.k LIMIT 2)"
    ),
    "keys of two relations": (
        f"SELECT f.id FROM by_pair f JOIN {PAIRS} ON f.k = d.k JOIN (VALUES (7), (1)) AS e (b) ON f.b = e.b"
    ),
    "keys of two rows of one relation": (
        f"SELECT f.id FROM by_pair f WHERE EXISTS (SELECT 1 FROM {PAIRS} WHERE f.k = d.k)"
        f" AND EXISTS (SELECT 1 FROM {PAIRS} WHERE f.b = d.b)"
    ),
    "GROUP BY one": (
        f"SELECT x.m FROM (SELECT k, max(b) AS b, count(*) AS m FROM by_pair GROUP BY k) x JOIN {PAIRS}"
        " ON x.k = d.k AND x.b = d.b"
    ),
    "a window over one": (
        f"SELECT x.n FROM (SELECT k, b, count(*) OVER (PARTITION BY k) AS n FROM by_pair) x JOIN {PAIRS}"
        " ON x.k = d.k AND x.b = d.b"
    ),
    "an outer join that fills": (
        f"SELECT d.k, d.b, f.id FROM {PAIRS} LEFT JOIN by_pair f ON f.k = d.k AND f.b = d.b"
    ),
    "an outer join that keeps": (
        f"SELECT d.k, f.id FROM by_pair f LEFT JOIN {PAIRS} ON f.k = d.k AND f.b = d.b"
    ),
    "an anti join": f"SELECT f.id FROM by_pair f LEFT ANTI JOIN {PAIRS} ON f.k = d.k AND f.b = d.b",
    "an equality and an inequality": f"SELECT f.id FROM by_pair f JOIN {PAIRS} ON f.k = d.k AND f.b > d.b",
    "a bucket beside an identity": (
        "SELECT f.id FROM by_both f JOIN dim d ON f.k = d.k AND f.b = d.big_k WHERE d.year = 1999"
    ),
    "an expression beside a column": (
        f"SELECT f.id FROM by_pair f JOIN {PAIRS} ON f.k = d.k AND f.b = d.b + 6"
    ),
    "text beside a number": (
        "SELECT f.id FROM by_pair f JOIN dim d ON f.k = d.text_k AND f.b = d.big_k WHERE d.year = 1999"
    ),
    "two columns with one key": (f"SELECT f.id FROM by_pair f JOIN {PAIRS} ON f.k = d.b AND f.b = d.b"),
    "branches of a union": (
        f"SELECT u.id FROM (SELECT id, k, b FROM by_pair UNION ALL SELECT id, b, k FROM by_both) u"
        f" JOIN {PAIRS} ON u.k = d.k AND u.b = d.b"
    ),
    "a self join": (
        "SELECT f.id, g.id FROM by_pair f JOIN by_pair g ON f.k = g.k AND f.b = g.b WHERE g.id < 5"
    ),
    "a pair that nobody has": (
        "SELECT f.id FROM by_pair f JOIN (VALUES (2, 49), (8, 1)) AS d (k, b) ON f.k = d.k AND f.b = d.b"
    ),
}


# The facts have the first two. Between them they have (1, 105), whose values are in the others.
PAIRS_OF_MANY = "(VALUES (0, 100), (2, 110), (1, 100), (0, 105), (NULL, 115)) AS d (a, b)"

# Those in which a scan may have tuples of its own, and some in which it must not.
COMPARED = frozenset(
    {
        "a join",
        "a semi join",
        "IN, of tuples in another order",
        "a derived table",
        "GROUP BY both",
        "a bucket beside an identity",
        "branches of a union",
        "a self join",
        "an outer join that fills",
        "a pair that nobody has",
    }
)


def tuples_applied(checked: Checked) -> bool:
    return any(
        len(filter_record.probe.columns) > 1 and filter_record.is_applied
        for filter_record in checked.pruned.filters
    )


@pytest.mark.parametrize("sql", PRUNED.values(), ids=PRUNED)
def test_only_files_of_the_tuples_are_read(sql: str, harness: Harness) -> None:
    perfect = harness.check(f"SELECT id FROM by_pair WHERE {LITERAL}").files_as_written("by_pair")
    checked = harness.check(sql)
    assert tuples_applied(checked), checked.pruned.filters
    assert checked.files("by_pair") == perfect


@pytest.mark.parametrize("sql", SAME_ROWS.values(), ids=SAME_ROWS)
def test_rows_are_the_same(sql: str, harness: Harness) -> None:
    harness.check(sql)


@pytest.fixture(scope="module")
def many(lake: SqlCatalog) -> str:
    """Creates 72 partitions by two columns; each value of one goes with exactly one value of the other."""
    columns: dict[str, IcebergType] = {"id": LongType(), "a": IntegerType(), "b": LongType()}
    parts: tuple[tuple[str, Transform[Any, Any]], ...] = (
        ("a", IdentityTransform()),
        ("b", IdentityTransform()),
    )
    rows: list[dict[str, Any]] = [
        {"id": number, "a": number, "b": 100 + (number * 5) % 72} for number in range(72)
    ]
    append(created(lake, "by_many_pairs", columns, Layout(parts)), rows)
    wanted = [*rows[::2], {"id": -1, "a": 1, "b": None}, {"id": -2, "a": None, "b": 101}, *_elsewhere()]
    append(
        created(lake, "pairs", {**columns, "c": IntegerType()}, Layout()),
        [{**row, "c": 1} for row in wanted],
    )
    return "by_many_pairs"


def _elsewhere() -> list[dict[str, Any]]:
    """Returns tuples that no fact has, though facts have each value, and many with values that none has."""
    swapped = [{"id": -3 - number, "a": number, "b": 100 + number} for number in range(1, 72, 2)]
    return swapped + [{"id": -100 - number, "a": 1000 + number, "b": number} for number in range(5_000)]


def test_tuples_of_many_partitions_are_distinguished(many: str, harness: Harness) -> None:
    checked = harness.check(
        f"SELECT f.id FROM {many} f JOIN pairs p ON f.a = p.a AND f.b = p.b WHERE p.c = 1"
    )
    assert tuples_applied(checked), checked.pruned.filters
    assert checked.files(many).total == 72
    assert checked.files(many).selected == 36


def test_tuples_of_values_that_the_partitions_have_in_others_are_left_out(
    many: str, harness: Harness, lake: SqlCatalog
) -> None:
    """Each value is in some partition, and nearly all combinations are in none."""
    columns: dict[str, IcebergType] = {"a": IntegerType(), "b": LongType(), "c": IntegerType()}
    wanted = [{"a": number, "b": 100 + (number * 5) % 72, "c": 1} for number in range(0, 72, 2)]
    there = {(number, 100 + (number * 5) % 72) for number in range(72)}
    all_others = [
        {"a": one, "b": 100 + two, "c": 1}
        for one in range(72)
        for two in range(72)
        if (one, 100 + two) not in there
    ]
    append(created(lake, "crossed_pairs", columns, Layout()), [*wanted, *all_others])
    checked = harness.check(
        f"SELECT f.id FROM {many} f JOIN crossed_pairs p ON f.a = p.a AND f.b = p.b WHERE p.c = 1"
    )
    assert tuples_applied(checked), checked.pruned.filters
    assert checked.files(many).selected == 36


def test_a_tuple_with_a_null_selects_no_file(many: str, harness: Harness) -> None:
    keys = "(VALUES (2, 110), (4, NULL), (NULL, 130)) AS p (a, b)"
    checked = harness.check(f"SELECT f.id FROM {many} f JOIN {keys} ON f.a = p.a AND f.b = p.b")
    assert checked.files(many).selected == 1


def test_past_the_bounds_neighbours_become_ranges(many: str, harness: Harness, gateway: Gateway) -> None:
    pruner = gateway.queries.ports.pruner
    bounds = pruner._bounds
    pruner._bounds = replace(bounds, tuples=TupleBounds(max_parts=8, max_values=64))
    try:
        checked = harness.check(
            f"SELECT f.id FROM {many} f JOIN pairs p ON f.a = p.a AND f.b = p.b WHERE p.c = 1 AND p.a < 30"
        )
    finally:
        pruner._bounds = bounds
    [together] = [
        filter_record for filter_record in checked.pruned.filters if len(filter_record.probe.columns) > 1
    ]
    assert (together.reason, together.form) == (Reason.APPLIED, FilterForm.RANGES)
    assert 15 <= checked.files(many).selected < 72


@pytest.fixture
def one_alternative(gateway: Gateway) -> Iterator[None]:
    """Lets texts have one alternative, so that everything else is left to the scan."""
    pruner = gateway.queries.ports.pruner
    bounds = pruner._bounds
    pruner._bounds = replace(bounds, tuples=TupleBounds(max_parts=1, max_values=1, are_compared=True))
    yield
    pruner._bounds = bounds


@pytest.mark.usefixtures("one_alternative")
def test_a_scan_from_memory_compares_each_file_with_the_tuples(many: str, from_memory: Harness) -> None:
    checked = from_memory.check(
        f"SELECT f.id FROM {many} f JOIN pairs p ON f.a = p.a AND f.b = p.b WHERE p.c = 1"
    )
    [together] = [record for record in checked.pruned.filters if len(record.probe.columns) > 1]
    assert checked.filtered.tuple_uses == {together.filter_id}
    assert (checked.files(many).total, checked.files(many).selected) == (72, 36)
    explained = checked.pruned.with_tuples(checked.filtered.tuple_uses)
    [record] = [record for record in explained.filters if record.filter_id == together.filter_id]
    assert (record.reason, record.form) == (Reason.APPLIED, FilterForm.RANGES)
    assert record.detail == f"files were chosen by {together.value_count:,} tuples in memory"


@pytest.mark.usefixtures("one_alternative")
@pytest.mark.parametrize("names", [("by_iceberg", False), ("from_memory", True)], ids=lambda names: names[0])
def test_tuples_are_of_no_use_to_scans_that_iceberg_plans(
    names: tuple[str, bool], many: str, request: pytest.FixtureRequest
) -> None:
    fixture, is_used = names
    checked = request.getfixturevalue(fixture).check(
        f"SELECT f.id FROM {many} f JOIN {PAIRS_OF_MANY} ON f.a = d.a AND f.b = d.b"
    )
    assert bool(checked.filtered.tuple_uses) is is_used
    assert checked.files(many).selected == (2 if is_used else 3)


@pytest.mark.usefixtures("one_alternative")
def test_tuples_that_do_not_fit_into_their_memory_leave_the_scan_as_it_is(
    many: str, from_memory: Harness, gateway: Gateway
) -> None:
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    sets = engine.session.tuple_sets.java
    sets.keepAtMost(1024)
    try:
        checked = from_memory.check(
            f"SELECT f.id FROM {many} f JOIN {PAIRS_OF_MANY} ON f.a = d.a AND f.b = d.b WHERE f.id >= 0"
        )
    finally:
        sets.keepAtMost(128 << 20)
    assert checked.pruned.tuples
    assert not checked.filtered.tuple_uses
    assert checked.files(many).selected == 3


@pytest.mark.usefixtures("one_alternative")
def test_tuples_of_one_of_two_references_are_not_compared(many: str, from_memory: Harness) -> None:
    checked = from_memory.check(
        f"SELECT f.id, g.id FROM {many} f JOIN {PAIRS_OF_MANY} ON f.a = d.a AND f.b = d.b"
        f" JOIN {many} g ON f.id = g.id + 1"
    )
    assert not checked.pruned.tuples
    assert not checked.filtered.tuple_uses


@pytest.mark.usefixtures("one_alternative")
@pytest.mark.parametrize("name", [name for name in (*PRUNED, *SAME_ROWS) if name in COMPARED])
def test_rows_are_the_same_if_scans_compare_tuples(name: str, from_memory: Harness) -> None:
    from_memory.check((PRUNED | SAME_ROWS)[name])


@pytest.mark.usefixtures("one_alternative")
def test_generated_tuples_select_files_that_have_one(from_memory: Harness, lake: SqlCatalog) -> None:
    """Their partitions are by month, bucket and first character."""
    columns: dict[str, IcebergType] = {
        "id": LongType(),
        "n": IntegerType(),
        "s": StringType(),
        "day": DateType(),
        "price": DecimalType(9, 2),
    }
    parts: tuple[tuple[str, Transform[Any, Any]], ...] = (
        ("day", MonthTransform()),
        ("n", BucketTransform(2)),
        ("s", TruncateTransform(1)),
    )
    chosen = random.Random(11)
    facts = created(lake, "generated_tuples", columns, Layout(parts))
    for round_ in range(3):
        append(facts, [_fact(chosen, round_ * 40 + number) for number in range(40)])
    used = 0
    for names in (("n", "s"), ("s", "day"), ("n", "day", "price"), ("n", "s", "day", "price")):
        rows = [_fact(chosen, number) for number in range(12)]
        keys = created(lake, f"tuples_of_{'_'.join(names)}", columns, Layout())
        append(keys, rows)
        on = " AND ".join(f"f.{name} = d.{name}" for name in names)
        checked = from_memory.check(
            f"SELECT f.id, f.n FROM generated_tuples f JOIN tuples_of_{'_'.join(names)} d ON {on}"
            " WHERE d.id >= 0"
        )
        used += bool(checked.filtered.tuple_uses)
    assert used == 4


def _fact(chosen: random.Random, number: int) -> dict[str, Any]:
    """Returns a row with a NULL now and then, and days before and after 1970."""
    row: dict[str, Any] = {
        "id": number,
        "n": chosen.randint(-3, 3),
        "s": chosen.choice(["ab", "ac", "b", "é"]),
        "day": date(1969, 11, 1) + timedelta(days=chosen.randint(0, 120)),
        "price": Decimal(chosen.randint(-200, 200)) / 100,
    }
    nulled = chosen.choice(["n", "s", "day", "price", "id"])
    return row if chosen.random() < 0.8 or nulled == "id" else row | {nulled: None}


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_keys_of_many_columns_stay_together(count: int, harness: Harness) -> None:
    names = ["k", "b", "day", "name", "price"][:count]
    on = " AND ".join(f"f.{name} = d.{'big_k' if name == 'b' else name}" for name in names)
    checked = harness.check(f"SELECT f.id FROM by_pair f JOIN dim d ON {on} WHERE d.year = 1999")
    assert checked.filtered.scans or checked.pruned.skipped
