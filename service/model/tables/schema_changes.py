"""Differences between a schema that a caller sends and a table's, and the ones that the table can adopt."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from service.faults import Fault
from service.model.tables.schemas import Field
from service.model.tables.tables import TableName

Path = tuple[str, ...]
"""The names that lead to a field; `element`, `key` and `value` lead into lists and maps."""


class SchemaMatch(IntEnum):
    """The distance of a sent schema from a table's; a larger value is further away.

    `SAME`: the columns are the table's. `DATA_CONVERSION_NEEDED`: all values fit the table's columns, which
    are wider, more numerous, or in another order. `SCHEMA_UPDATE_NEEDED`: the table's schema would have to
    change.

    Source: `CompareSchemasVisitor.Result` of Iceberg's dynamic sink.
    """

    SAME = 0
    DATA_CONVERSION_NEEDED = 1
    SCHEMA_UPDATE_NEEDED = 2


@dataclass(frozen=True, slots=True)
class AddField:
    """A new field of the table, or of a struct in it; its ids are 0 until the table has it."""

    parent: Path
    field: Field

    @property
    def path(self) -> Path:
        """The names that lead to the new field."""
        return (*self.parent, self.field.name)


@dataclass(frozen=True, slots=True)
class WidenField:
    """A change to a type that holds all values of the type before."""

    path: Path
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class MakeOptional:
    """A change that makes a required field optional."""

    path: Path


SchemaChange = AddField | WidenField | MakeOptional


class DifferenceKind(StrEnum):
    """The kinds of differences.

    The first three can be evolved away, and are reported only if schema evolution was not requested.
    """

    FIELD_MISSING = "FIELD_MISSING"
    TYPE_NARROWER = "TYPE_NARROWER"
    FIELD_REQUIRED = "FIELD_REQUIRED"
    TYPE_DIFFERS = "TYPE_DIFFERS"
    MAP_KEY_DIFFERS = "MAP_KEY_DIFFERS"
    DEFAULT_DIFFERS = "DEFAULT_DIFFERS"
    NAME_TAKEN = "NAME_TAKEN"
    NOT_WRITABLE = "NOT_WRITABLE"
    NOT_READABLE = "NOT_READABLE"
    IDENTIFIER_FIELD = "IDENTIFIER_FIELD"
    FORMAT_TOO_OLD = "FORMAT_TOO_OLD"


@dataclass(frozen=True, slots=True)
class SchemaDifference:
    """A field that does not fit, and what to do about it.

    `place` is where its write stands in the request.
    """

    column: str
    kind: DifferenceKind
    detail: str
    place: str = ""

    @property
    def fault(self) -> Fault:
        """At the schema that was sent."""
        return Fault(self.detail, f"{self.place}/schema", self.column, self.kind.value)


@dataclass(frozen=True, slots=True)
class SchemaComparison:
    """The result of a comparison: `changes` that the table can adopt, and `differences` that it cannot."""

    match: SchemaMatch
    changes: tuple[SchemaChange, ...] = ()
    differences: tuple[SchemaDifference, ...] = ()


class ColumnChangeKind(StrEnum):
    """The kind of a column's change."""

    ADDED = "ADDED"
    WIDENED = "WIDENED"
    MADE_OPTIONAL = "MADE_OPTIONAL"


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A change that was made, for people; `column` has dots into structs, lists and maps.

    `before` and `after` are types as `service.model.tables.schemas.type_text` spells them, where the type
    changed.
    """

    column: str
    kind: ColumnChangeKind
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class TableEvolution:
    """The changes that an ingest made to a table so that its records could be written."""

    table: TableName
    is_created: bool = False
    changes: tuple[ColumnChange, ...] = ()
