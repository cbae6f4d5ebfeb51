"""Texts whose names, positions or conditions are easily misread return the same rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.equivalence.harness import Harness

FIXTURES = Path(__file__).parents[1] / "fixtures"


def fixture_texts(name: str) -> list[str]:
    return [part.strip() for part in (FIXTURES / name).read_text().split(";\n") if part.strip()]


@pytest.mark.parametrize("sql", fixture_texts("odd_texts.sql"))
def test_the_rows_are_the_same(sql: str, harness: Harness) -> None:
    harness.check(sql)


@pytest.mark.parametrize("condition", fixture_texts("conditions.sql"))
def test_a_condition_means_the_same_to_the_build_side(condition: str, harness: Harness) -> None:
    checked = harness.check(f"SELECT f.id, d.k FROM by_k f JOIN dim d ON f.k = d.k WHERE {condition}")
    assert checked.filtered.rows.num_rows > 0
