"""Every test that the page of cases names exists."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from service.ingest.schema_changes.compare_schemas import compare_schemas
from service.model.tables.schemas import Field, Primitive

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "contributing" / "dynamic-sink-cases.md"
_NAMED = re.compile(r"`((?:contract|equivalence|integration|unit)/[\w/]+\.py)::(\w+)`")


def _promotions() -> list[tuple[tuple[str, str], str]]:
    """Returns the rows of type promotions as pairs of sent type and table type, with each row's text."""
    types = {"Int": "int", "Integer": "int", "Long": "long", "Float": "float", "Double": "double"}
    types |= {"Date": "date", "Timestamp": "timestamp"}
    one = "|".join(types)
    return [
        ((types[sent], types[own]), row)
        for row in PAGE.read_text(encoding="utf-8").splitlines()
        if row.startswith("| test")
        for sent, own in re.findall(rf"({one})To({one})(?![a-z])", row.split("|")[1])
    ]


def test_every_test_that_the_page_names_is_there() -> None:
    named = _NAMED.findall(PAGE.read_text(encoding="utf-8"))
    assert len(named) > 100
    assert [(path, name) for path, name in named if name not in _tests_in(path)] == []


@pytest.mark.parametrize(("case", "row"), _promotions(), ids=str)
def test_what_is_converted_is_not_said_to_be_refused(case: tuple[str, str], row: str) -> None:
    given, own = ((Field(1, "c", Primitive(type_name)),) for type_name in case)
    is_refused = compare_schemas(given, own).differences != ()
    assert is_refused is ("| refused" in row)


@cache
def _tests_in(path: str) -> frozenset[str]:
    file = ROOT / "tests" / path
    tree = ast.parse(file.read_text(encoding="utf-8")) if file.is_file() else ast.Module([], [])
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
