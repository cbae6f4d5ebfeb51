"""The rows of one table that a filter's conditions select, in a form that can be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

LiteralValue = int | str | date | Decimal
"""A literal of exactly its column's type."""


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of a range."""

    value: LiteralValue
    is_inclusive: bool = True


@dataclass(frozen=True, slots=True)
class ColumnSet:
    """The values of one column that meet its conditions; all are of one type.

    `is_null`: NULL alone, and then there is nothing else. Otherwise NULL is not among them: with `values`,
    they are these; without, all from `low` to `high`. So a set without any of these has all values but NULL.
    """

    low: Bound | None = None
    high: Bound | None = None
    values: frozenset[LiteralValue] | None = None
    is_null: bool = False


NOTHING = ColumnSet(values=frozenset())
"""No value, and no NULL."""


@dataclass(frozen=True, slots=True)
class KeySelection:
    """The conditions on the rows that keys come from: a row must meet all of them.

    `columns` are by name in lower case. `rest` are the texts of all other conditions, each with the values of
    its parameters. Two equal texts select the same rows.
    """

    columns: Mapping[str, ColumnSet]
    rest: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class KeyFamily:
    """Filters with the same key columns of one table, under one restriction.

    They differ only in their conditions and in the snapshot. `fingerprint` is the same for all of them;
    `named_columns` are the columns of the table that the text of the query names.
    """

    fingerprint: str
    named_columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptNote:
    """A note on the kept rows of a key set: its address, what was selected at which snapshot, and how much.

    `columns` are the names of the kept columns, in lower case, those of the keys first.
    """

    fingerprint: str
    snapshot_id: int
    selection: KeySelection
    columns: tuple[str, ...]
    row_count: int
