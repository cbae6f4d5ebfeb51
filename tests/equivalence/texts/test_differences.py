"""EXCEPT and INTERSECT of one table return the right rows, also where a column has another one's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Final

import pytest

from tests.equivalence.harness import Harness, rows_of

TABLE: Final = [(number % 2, number % 3) for number in range(6)]
"""Not of VALUES: such rows are filtered while the query is planned, before Spark looks at EXCEPT."""
CONDITIONS: Final[Mapping[str, Callable[[int, int], bool]]] = {
    "a = 0": lambda a, _: a == 0,
    "b < 2": lambda _, b: b < 2,
    "a <> b": lambda a, b: a != b,
}
SIDES: Final = list(product((0, 1), ("a", "b", "c"), CONDITIONS))


@pytest.mark.parametrize("limit", ["", " LIMIT 100"], ids=["whole", "limited"])
@pytest.mark.parametrize("operator", ["EXCEPT", "INTERSECT"])
def test_conditions_are_those_of_their_own_columns(operator: str, limit: str, harness: Harness) -> None:
    table = f"SELECT id % 2 AS a, id % 3 AS b FROM range({len(TABLE)}){limit}"
    cases = list(product(SIDES, SIDES))
    texts = [
        f"SELECT {number} AS n, * FROM ({_text(*left)} {operator} {_text(*right)})"
        for number, (left, right) in enumerate(cases)
    ]
    found = harness.run(f"WITH t AS ({table}) {' UNION ALL '.join(texts)}").rows
    assert rows_of(found).keys() == {
        (number, value)
        for number, (left, right) in enumerate(cases)
        for value in (
            _values(*left) - _values(*right) if operator == "EXCEPT" else _values(*left) & _values(*right)
        )
    }
    assert set(rows_of(found).values()) == {1}


def _text(place: int, name: str, condition: str) -> str:
    return f"SELECT {'ab'[place]} AS {name} FROM t WHERE {condition}"


def _values(place: int, _: str, condition: str) -> set[int]:
    return {row[place] for row in TABLE if CONDITIONS[condition](*row)}
