"""The normal form of conditions, and containment, against an oracle that looks at each row."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyiceberg.types import (
    DateType,
    DecimalType,
    DoubleType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
)

from service.adapters.keys.key_query import key_query
from service.adapters.keys.key_selector import selected_rows
from service.adapters.keys.rows_within import rows_within
from service.model.filters.key_selection import NOTHING, Bound, ColumnSet, KeySelection
from service.model.query.query import Parameter, Parameters
from service.pruning.containment.key_selections import residual

TYPES: Mapping[str, IcebergType] = {
    "k": IntegerType(),
    "a": IntegerType(),
    "d": DateType(),
    "s": StringType(),
    "n": DecimalType(5, 2),
    "b": LongType(),
    "w": DoubleType(),
}
FIELDS = {
    name: NestedField(number, name, type_, required=False)
    for number, (name, type_) in enumerate(TYPES.items(), start=1)
}
VALUES: Mapping[str, Sequence[Any]] = {
    "a": (-2, -1, 0, 1, 2),
    "d": tuple(date(2001, 1, day) for day in (1, 2, 3, 5)),
    "s": ("", "a", "ab", "é"),
    "n": (Decimal("-1.00"), Decimal("0.50"), Decimal("2.00")),
}
ARROW = {"a": pa.int32(), "d": pa.date32(), "s": pa.string(), "n": pa.decimal128(5, 2)}
ROWS = [
    {"k": number, **dict(zip(VALUES, row, strict=True))}
    for number, row in enumerate(product(*((*values, None) for values in VALUES.values())))
]
TABLE = pa.Table.from_pylist(ROWS, pa.schema([("k", pa.int32()), *ARROW.items()]))
COMPARISONS = {
    "=": lambda left, right: left == right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


@dataclass(frozen=True)
class Condition:
    """A condition as text, and how a person evaluates it: true, or anything else."""

    column: str
    kind: str
    values: tuple[Any, ...] = ()

    @property
    def sql(self) -> str:
        column, texts = f"`t0`.`{self.column}`", [spelled(value) for value in self.values]
        match self.kind:
            case "null" | "not null":
                return f"{column} IS NULL" if self.kind == "null" else f"NOT {column} IS NULL"
            case "between":
                return f"{column} BETWEEN {texts[0]} AND {texts[1]}"
            case "in":
                return f"{column} IN ({', '.join(texts)})"
            case "mirrored":
                return f"{texts[0]} > {column}"
            case _:
                return f"{column} {self.kind} {texts[0]}"

    def is_true(self, row: Mapping[str, Any]) -> bool:
        value = row[self.column]
        if value is None or self.kind in ("null", "not null"):
            return (value is None) == (self.kind == "null")
        match self.kind:
            case "between":
                return bool(self.values[0] <= value <= self.values[1])
            case "in":
                return value in self.values
            case "mirrored":
                return bool(self.values[0] > value)
            case _:
                return bool(COMPARISONS[self.kind](value, self.values[0]))


def spelled(value: Any) -> str:
    match value:
        case str():
            return f"'{value}'"
        case date():
            return f"CAST('{value}' AS DATE)"
        case _:
            return str(value)


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    column = draw(st.sampled_from(sorted(VALUES)))
    value = st.sampled_from(VALUES[column])
    kind = draw(st.sampled_from(["=", "<", "<=", ">", ">=", "mirrored", "between", "in", "null", "not null"]))
    match kind:
        case "null" | "not null":
            return Condition(column, kind)
        case "between":
            return Condition(column, kind, (draw(value), draw(value)))
        case "in":
            return Condition(column, kind, tuple(draw(st.lists(value, min_size=1, max_size=4))))
        case _:
            return Condition(column, kind, (draw(value),))


Conditions = list[Condition]
SOME = st.lists(conditions(), min_size=0, max_size=4)


def selection(text: str, parameters: Parameters = ()) -> KeySelection:
    query = key_query(f"SELECT DISTINCT `t0`.`k` AS `k0` FROM l.s.t VERSION AS OF 1 AS `t0` WHERE {text}")
    assert query is not None
    found = selected_rows(query, FIELDS, parameters)
    assert found is not None
    return found.selection


def selection_of(some: Conditions) -> KeySelection:
    return selection(" AND ".join(each.sql for each in some) or "TRUE")


def oracle(some: Conditions) -> list[int]:
    return [row["k"] for row in ROWS if all(each.is_true(row) for each in some)]


def keys(table: pa.Table) -> list[int]:
    return sorted(table["k"].to_pylist())


@settings(max_examples=150, deadline=None, derandomize=True)
@given(SOME)
def test_a_normal_form_has_the_rows_of_its_conditions(some: Conditions) -> None:
    found = selection_of(some)
    assert found.rest <= {'["TRUE", []]'}
    assert keys(rows_within(TABLE, found.columns)) == oracle(some)


@settings(max_examples=250, deadline=None, derandomize=True)
@given(SOME, SOME)
def test_a_residual_finds_exactly_the_rows_and_never_misses_one(some: Conditions, wide: Conditions) -> None:
    left = residual(selection_of([*some, NOT_NULL]), selection_of([*wide, NOT_NULL]))
    selected, others = oracle([*some, NOT_NULL]), oracle([*wide, NOT_NULL])
    if left is not None:
        assert set(selected) <= set(others)
        rows = rows_within(TABLE.take(pa.array(others, pa.int64())), left)
        assert keys(rows) == selected


NOT_NULL = Condition("a", "not null")


@settings(max_examples=150, deadline=None, derandomize=True)
@given(SOME, SOME)
def test_more_conditions_are_always_within_fewer(wide: Conditions, more: Conditions) -> None:
    left = residual(selection_of([NOT_NULL, *wide, *more]), selection_of([NOT_NULL, *wide]))
    assert left is not None
    rows = rows_within(TABLE.take(pa.array(oracle([NOT_NULL, *wide]), pa.int64())), left)
    assert keys(rows) == oracle([NOT_NULL, *wide, *more])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(SOME, st.randoms(use_true_random=False))
def test_neither_order_nor_repetition_matters(some: Conditions, chosen: random.Random) -> None:
    written = [*some, *some[:1]]
    chosen.shuffle(written)
    lists = [
        Condition(each.column, each.kind, tuple(reversed(each.values))) if each.kind == "in" else each
        for each in written
    ]
    assert selection_of(lists) == selection_of(some)
    assert residual(selection_of(lists), selection_of(some)) == {}


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("`t0`.`a` BETWEEN 1 AND 2", {"a": ColumnSet(Bound(1), Bound(2))}),
        ("`t0`.`a` >= 1 AND 3 > `t0`.`a`", {"a": ColumnSet(Bound(1), Bound(2))}),
        ("(`t0`.`a` IN (2, 1, 2) AND `t0`.`b` = 7)", {
            "a": ColumnSet(values=frozenset({1, 2})), "b": ColumnSet(values=frozenset({7}))
        }),
        ("`t0`.`a` IS NULL AND `t0`.`a` = 1", {"a": NOTHING}),
        ("`t0`.`s` < 'b'", {"s": ColumnSet(high=Bound("b", is_inclusive=False))}),
        ("`t0`.`a` < -2147483648", {"a": ColumnSet(high=Bound(-2147483648, is_inclusive=False))}),
    ],
)  # fmt: skip
def test_conditions_have_one_form(text: str, columns: Mapping[str, ColumnSet]) -> None:
    assert selection(text) == KeySelection(columns)


@pytest.mark.parametrize(
    "text",
    [
        "`t0`.`a` = 1.5",
        "`t0`.`a` = '1'",
        "`t0`.`a` < 3000000000",
        "`t0`.`n` = 1.505",
        "`t0`.`n` = '1'",
        "`t0`.`w` = 1.5",
        "`t0`.`w` IS NULL",
        "`t0`.`d` = '2001-01-01'",
        "`t0`.`d` = DATE '2001-1-1'",
        "`t0`.`a` <> 1",
        "`t0`.`a` <=> 1",
        "NOT `t0`.`a` = 1",
        "NOT `t0`.`a` IN (1, 2)",
        "`t0`.`a` IN (1, NULL)",
        "`t0`.`a` = NULL",
        "`t0`.`a` BETWEEN NULL AND 2",
        "`t0`.`a` BETWEEN SYMMETRIC 2 AND 1",
        "`t0`.`a` = 1 OR `t0`.`a` = 2",
        "`t0`.`a` + 1 = 2",
        "`t0`.`a` = `t0`.`b`",
        "`t0`.`a`",
        "`t0`.`s` LIKE 'a%'",
        "`t0`.`s` COLLATE UTF8_LCASE = 'a'",
        "`t0`.`s` = 'a' COLLATE UTF8_LCASE",
        "upper(`t0`.`s`) = 'A'",
    ],
)
def test_conditions_that_are_not_certain_are_compared_by_their_text(text: str) -> None:
    found = selection(text)
    assert not found.columns
    assert len(found.rest) == 1
    assert residual(found, found) == {}
    year = selection(f"({text}) AND `t0`.`b` = 7")
    assert residual(year, found) == {"b": ColumnSet(values=frozenset({7}))}
    assert residual(selection("`t0`.`b` = 7"), found) is None
    assert residual(year, selection("`t0`.`b` = 7")) is None, "the text has to be evaluated"


def test_a_parameter_is_its_value() -> None:
    of_three, text = {"x": Parameter(3)}, "`t0`.`a` = :x"
    assert selection(text, of_three) == selection("`t0`.`a` = 3")
    called = [selection("upper(`t0`.`s`) = :x", {"x": Parameter(value)}) for value in ("A", "B", "A")]
    assert called[0] == called[2] != called[1]


def test_a_set_without_values_is_within_every_set() -> None:
    nothing = selection("`t0`.`a` = 1 AND `t0`.`a` = 2")
    assert residual(nothing, selection("`t0`.`a` = 7")) == {"a": NOTHING}
    assert residual(nothing, selection("`t0`.`a` IS NULL")) == {"a": NOTHING}
    assert residual(nothing, selection("`t0`.`b` = 7")) is None


def test_thousands_of_conditions_are_no_problem() -> None:
    many = " AND ".join(f"`t0`.`a` < {number}" for number in range(2_000))
    assert selection(many) == selection("(`t0`.`a` < 0)")
