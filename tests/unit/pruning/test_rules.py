"""Runs every rule on its fixtures: comment lines say the point, then follow `input; expected;`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from tests.unit.pruning.rules import RULES

FIXTURES = Path(__file__).parent / "fixtures"


def cases() -> Iterator[ParameterSet]:
    for rule in RULES:
        for block in (FIXTURES / f"{rule}.sql").read_text().strip().split("\n\n"):
            lines = block.splitlines()
            point = " ".join(line.removeprefix("--").strip() for line in lines if line.startswith("--"))
            text = "\n".join(line for line in lines if not line.startswith("--"))
            given, expected = text.removesuffix(";").split(";\n")
            yield pytest.param(rule, given, expected, id=f"{rule}: {point}")


@pytest.mark.parametrize(("rule", "given", "expected"), list(cases()))
def test_a_rule_does_what_its_fixture_says(rule: str, given: str, expected: str) -> None:
    assert RULES[rule](given) == expected


def test_every_fixture_file_belongs_to_a_rule() -> None:
    assert {path.stem for path in FIXTURES.glob("*.sql")} == set(RULES)
