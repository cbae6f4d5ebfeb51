"""Generated queries."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """A query; `{fact}` and `{dim}` stand for its tables with their versions, `{name}` for the fact's name.

    `is_ordered`: each run returns its rows in the same order. `has_parameter`: it needs `least`.
    """

    text: str
    is_ordered: bool
    joins: bool
    is_offered: bool
    width: int = 0
    """How many columns it has."""

    def over(self, fact: str, dimension: str) -> str:
        texts = {"{fact}": fact, "{dim}": dimension, "{name}": fact.split()[0]}
        text = self.text
        for name, value in texts.items():
            text = text.replace(name, value)
        return text

    @property
    def has_parameter(self) -> bool:
        return ":least" in self.text
