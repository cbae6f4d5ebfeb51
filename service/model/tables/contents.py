"""The contents of a catalog: schemas, tables and views, as lists show them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from service.model.tables.tables import TableColumn, TableName


@dataclass(frozen=True, slots=True, order=True)
class SchemaEntry:
    """A schema; the levels of a nested one are joined by dots."""

    catalog: str
    schema: str
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class SchemaList:
    """Schemas in order of name; `missing` names the catalogs that did not answer."""

    schemas: tuple[SchemaEntry, ...]
    missing: tuple[str, ...] = ()


class RelationKind(StrEnum):
    """Whether an entry is a table or a view."""

    TABLE = "TABLE"
    VIEW = "VIEW"


@dataclass(frozen=True, slots=True)
class RelationEntry:
    """A table or a view. `columns` and `comment` are None if they were not asked, or are not known now."""

    name: TableName
    kind: RelationKind
    comment: str | None = None
    columns: tuple[TableColumn, ...] | None = None


@dataclass(frozen=True, slots=True)
class RelationPage:
    """Tables and views in order of name, and whether there are more; `missing` as in a `SchemaList`."""

    entries: tuple[RelationEntry, ...]
    has_more: bool
    missing: tuple[str, ...] = ()


class AcceptedBy(StrEnum):
    """Why a filter on a column can leave out files of its table.

    `BOUNDS`: files record the least and greatest values of the column, and whether a key leaves out many is
    not known yet. `CLUSTERED`: it does.
    """

    PARTITION = "PARTITION"
    SORT = "SORT"
    BLOOM = "BLOOM"
    CLUSTERED = "CLUSTERED"
    BOUNDS = "BOUNDS"


@dataclass(frozen=True, slots=True)
class AcceptedColumn:
    """A column that dynamic filters are accepted on."""

    column: str
    by: AcceptedBy
