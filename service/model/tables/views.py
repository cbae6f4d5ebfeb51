"""Views of a catalog: named queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.model.tables.tables import TableAt, TableFacts, TableName


@dataclass(frozen=True, slots=True)
class ViewColumn:
    """A column as it was recorded when the view was created; `type_name` is the engine's spelling."""

    name: str
    type_name: str


@dataclass(frozen=True, slots=True)
class View:
    """A view as its catalog describes it now; two equal views give the same rows of the same tables.

    In `sql`, names without a catalog or schema belong to `catalog` and `namespace`. The view's columns are
    the recorded ones in their order, whatever names the text gives them.
    """

    name: TableName
    sql: str
    catalog: str
    namespace: tuple[str, ...]
    columns: tuple[ViewColumn, ...]


@dataclass(frozen=True, slots=True)
class ViewReading:
    """A query that should give what `SELECT * FROM` the view gives, run with this catalog and schema."""

    view: View
    sql: str
    catalog: str | None
    schema: str | None


@dataclass(frozen=True, slots=True)
class ExpandedText:
    """A text whose views are expanded to the tables behind them.

    `facts` are those that the views were expanded with. `views` are the expanded ones, each with the tables
    and views that its own text names.
    """

    sql: str
    facts: Mapping[TableAt, TableFacts]
    views: Mapping[TableName, tuple[TableName, ...]]
