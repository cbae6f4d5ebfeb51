"""Views of a catalog: queries that are read by a name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.model.tables.tables import TableAt, TableFacts, TableName


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column as it was recorded when the view was made; `type_name` is the engine's spelling."""

    name: str
    type_name: str


@dataclass(frozen=True, slots=True)
class View:
    """A view as its catalog describes it now. Two that are equal give the same rows of the same tables.

    In `sql`, names that leave out catalog or schema are those of `catalog` and `namespace`. Its columns are
    the recorded ones by their order, whatever the text calls them.
    """

    name: TableName
    sql: str
    catalog: str
    namespace: tuple[str, ...]
    columns: tuple[ViewColumn, ...]


@dataclass(frozen=True, slots=True)
class ViewReading:
    """A query that is meant to give what `SELECT * FROM` the view gives, sent at this catalog and schema."""

    view: View
    sql: str
    catalog: str | None
    schema: str | None


@dataclass(frozen=True, slots=True)
class OpenedText:
    """A text that reads the tables behind its views. `facts` are those that the views were opened by.

    `views` are those that were opened, each with the tables and views that its own text names.
    """

    sql: str
    facts: Mapping[TableAt, TableFacts]
    views: Mapping[TableName, tuple[TableName, ...]]
