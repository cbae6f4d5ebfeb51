"""A query's text as a tree, with the places of its table references."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp


@dataclass(frozen=True, slots=True, order=True)
class TextSpan:
    """A part of a text; `end` is exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TableReference:
    """One mention of a table. `start` and `end` (exclusive) are where its name stands in the text.

    `is_plain`: nothing but an alias follows the name; no version, no sample.
    """

    parts: tuple[str, ...]
    start: int
    end: int
    alias: str | None
    is_plain: bool


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query as text and as a tree; the tree is never changed in place."""

    sql: str
    tree: exp.Query
    references: tuple[TableReference, ...]
