"""The classes and functions that the glossary names exist in the packages that it gives."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from docs.tooling.check import ROOT

GLOSSARY = ROOT / "docs" / "contributing" / "glossary.md"
_NAMED = re.compile(r"\| `([\w.]+)`: ([^|]+) \|$", re.MULTILINE)


@cache
def names_in(package: str) -> frozenset[str]:
    """Returns the top-level classes and functions of the package's modules."""
    base = ROOT / Path(*package.split("."))
    modules = base.rglob("*.py") if base.is_dir() else [base.with_suffix(".py")]
    return frozenset(
        node.name
        for module in modules
        for node in ast.parse(module.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    )


@pytest.mark.parametrize(("package", "named"), _NAMED.findall(GLOSSARY.read_text(encoding="utf-8")))
def test_what_it_names_is_there(package: str, named: str) -> None:
    assert set(re.findall(r"`(\w+)`", named)) <= names_in(package)


def test_every_row_names_a_place() -> None:
    rows = [line for line in GLOSSARY.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    terms = [row for row in rows if not row.startswith("| term |")]
    assert len(terms) > 40
    assert [row for row in terms if "`" not in row] == []
