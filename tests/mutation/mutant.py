"""A module with one change."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import NamedTuple


class Mutant(NamedTuple):
    """The code of the module at `path`, from the root of the tree, in which `operator` changed `line`."""

    path: str
    line: int
    operator: str
    code: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.operator}"

    def diff(self, original: str) -> Iterator[str]:
        """Yields the lines that differ from the original code."""
        lines = difflib.unified_diff(original.splitlines(), self.code.splitlines(), lineterm="", n=0)
        return (line for line in lines if not line.startswith(("---", "+++", "@@")))
