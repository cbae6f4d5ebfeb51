"""The chart's README: the comments in values.yaml, as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

_HEAD = Path(__file__).parent / "README.head.md"
_LONGEST_DEFAULT = 60


@dataclass(frozen=True, slots=True)
class DescribedValue:
    """A value of the chart by its path, with its default as JSON and its comment."""

    path: str
    default: str
    description: str


def readme(values_yaml: str) -> str:
    """Returns the README in Markdown."""
    rows = "".join(
        f"| `{value.path}` | {_default(value)} | {value.description} |\n"
        for value in described_values(values_yaml)
    )
    return f"{_HEAD.read_text(encoding='utf-8')}\n| value | default | what it is |\n|---|---|---|\n{rows}"


def described_values(values_yaml: str) -> Iterator[DescribedValue]:
    r"""Yields each value that has a comment, in the file's order.

    >>> [found] = described_values("a:\n  # How many.\n  b: 3\n")
    >>> found
    DescribedValue(path='a.b', default='3', description='How many.')
    """
    values = yaml.safe_load(values_yaml)
    comment: list[str] = []
    parents: list[tuple[int, str]] = []
    for line in values_yaml.splitlines():
        text = line.strip()
        if text.startswith("#"):
            comment.append(text.lstrip("# "))
            continue
        indent, name = len(line) - len(line.lstrip()), text.partition(":")[0]
        parents = [*((at, parent) for at, parent in parents if at < indent), (indent, name)]
        if comment:
            path = [parent for _, parent in parents]
            yield DescribedValue(".".join(path), json.dumps(_at(values, path)), " ".join(comment))
        comment = []


def _at(values: object, path: list[str]) -> object:
    for name in path:
        assert isinstance(values, dict)
        values = values[name]
    return values


def _default(value: DescribedValue) -> str:
    if value.default in ('""', "{}", "[]", "null"):
        return "–"
    return f"`{value.default}`" if len(value.default) < _LONGEST_DEFAULT else "see values.yaml"
