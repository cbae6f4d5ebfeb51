"""The tables and views that an analyzed query reads, and where in its plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from service.model.tables.tables import TableName

Parts = tuple[str, ...]
Path = tuple[Parts, ...]
"""The names of the views around a place of a plan in lower case, the outermost first."""


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table that a query reads.

    `metadata` is the kind of its metadata that is read instead of its rows. `hidden_columns` are those that
    are in no schema, such as `_file`.
    """

    name: TableName
    parts: Parts
    metadata: str | None
    hidden_columns: Parts
    path: Path = ()


@dataclass(frozen=True, slots=True)
class ReadView:
    """A view that a query reads. `text` is what it was made from, if the plan has that."""

    parts: Parts
    path: Path = ()
    text: str | None = None

    @property
    def name(self) -> TableName:
        """The full name."""
        return name_of(self.parts)

    @property
    def inside(self) -> Path:
        """The path of what the view reads."""
        return (*self.path, lower(self.parts))


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """The tables and views that an analyzed query reads.

    `written` are the names in its text, in full. `views` lacks those that the text names without their
    catalog or schema, unless the query was analyzed with full names. `unknown` says what cannot be named.
    """

    written: tuple[Parts, ...]
    views: tuple[ReadView, ...]
    tables: tuple[ReadTable, ...]
    unknown: tuple[str, ...]

    @classmethod
    def of(cls, reported: str) -> ReadPlan:
        """Reads the JSON of `ReadTables.java`."""
        found = json.loads(reported)
        return cls(
            written=tuple(map(tuple, found["names"])),
            views=tuple(
                ReadView(tuple(view["name"]), _path(view["path"]), _text(view.get("text")))
                for view in found["views"]
            ),
            tables=tuple(
                ReadTable(
                    name_of(table["name"]),
                    tuple(table["parts"]),
                    table["metadata"],
                    tuple(table["columns"]),
                    _path(table["path"]),
                )
                for table in found["tables"]
            ),
            unknown=tuple(found["unknown"]),
        )

    def below(self, view: ReadView) -> frozenset[Parts]:
        """Returns the names of the view and of all views below it."""
        inside = view.inside
        below = (other.parts for other in self.views if other.path[: len(inside)] == inside)
        return frozenset((view.parts, *below))


def name_of(parts: Sequence[str]) -> TableName:
    """Returns the name with these parts."""
    catalog, *schema, table = parts
    return TableName(catalog, ".".join(schema), table)


def lower(parts: Iterable[str]) -> Parts:
    """Returns the parts in lower case, as policies compare them."""
    return tuple(part.lower() for part in parts)


def _text(reported: object) -> str | None:
    return None if reported is None else json.dumps(reported)


def _path(reported: Sequence[Sequence[str]]) -> Path:
    return tuple(map(tuple, reported))
