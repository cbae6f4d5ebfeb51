"""The page of cases names tests that are there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "dynamic-sink-cases.md"
_NAMED = re.compile(r"`((?:contract|equivalence|integration|unit)/[\w/]+\.py)::(\w+)`")


def test_every_test_that_the_page_names_is_there() -> None:
    named = _NAMED.findall(PAGE.read_text(encoding="utf-8"))
    assert len(named) > 100
    assert [(path, name) for path, name in named if name not in _tests_in(path)] == []


@cache
def _tests_in(path: str) -> frozenset[str]:
    file = ROOT / "tests" / path
    tree = ast.parse(file.read_text(encoding="utf-8")) if file.is_file() else ast.Module([], [])
    return frozenset(each.name for each in tree.body if isinstance(each, ast.FunctionDef))
