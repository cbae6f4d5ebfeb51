"""Spark prunes one side of a join; our filter on the other side does not make it choose another one."""

from __future__ import annotations

from itertools import product

import pytest

from tests.equivalence.harness import Harness

# The outer condition does not belong to our filter, so Spark finds fewer keys than our filter has.
TEXT = (
    "WITH c AS (SELECT name AS c0 FROM parents WHERE year = 2000"
    " UNION ALL SELECT l.name AS c0 FROM {sides} ON {condition} WHERE {filters})"
    " SELECT f.id FROM by_prefix f WHERE EXISTS (SELECT 1 FROM c WHERE f.name = c.c0 AND c.c0 = 'Ada')"
)
PAIRS = (
    ("by_day l", "evolved r", "r.at = l.day"),
    ("by_day l", "by_month r", "r.day = l.day"),
    ("by_k l", "by_pair r", "r.k = l.k"),
)
FILTERS = ("l.id < 12", "l.is_paid AND l.id < 20", "l.name IS NULL")


def texts() -> list[str]:
    found = []
    for (left, right, condition), filters in product(PAIRS, FILTERS):
        for sides in (f"{left} JOIN {right}", f"{right} JOIN {left}", f"{left} LEFT SEMI JOIN {right}"):
            found.append(TEXT.format(sides=sides, condition=condition, filters=filters))
    return found


@pytest.mark.parametrize("sql", texts())
def test_a_filter_of_ours_does_not_turn_the_engines_pruning_around(sql: str, harness: Harness) -> None:
    harness.check(sql)
