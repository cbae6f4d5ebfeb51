"""How a schema that a caller sends differs from a table's, and what of it a table can take over."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from service.model.tables.schemas import Field
from service.model.tables.tables import TableName

Path = tuple[str, ...]
"""The names that lead to a field; `element`, `key` and `value` lead into lists and maps."""


class SchemaMatch(IntEnum):
    """How far a sent schema is from a table's; the larger, the further.

    `SAME`: the columns are the table's. `DATA_CONVERSION_NEEDED`: all values fit the table's columns, which
    are wider, more, or in another order. `SCHEMA_UPDATE_NEEDED`: the table's schema would have to change.

    Source: `CompareSchemasVisitor.Result` of Iceberg's dynamic sink.
    """

    SAME = 0
    DATA_CONVERSION_NEEDED = 1
    SCHEMA_UPDATE_NEEDED = 2


@dataclass(frozen=True, slots=True)
class AddField:
    """A new field of the table, or of a struct in it; its ids are 0 until it is in the table."""

    parent: Path
    field: Field

    @property
    def path(self) -> Path:
        """Where the field will be."""
        return (*self.parent, self.field.name)


@dataclass(frozen=True, slots=True)
class WidenField:
    """A type that holds all values of the one before."""

    path: Path
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class MakeOptional:
    """A field that was required."""

    path: Path


SchemaChange = AddField | WidenField | MakeOptional


class DifferenceKind(StrEnum):
    """What differs. The first three can be evolved away, and are told when nobody asked for that."""

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
    """A field that does not fit, and what to do about it. `place` is that of its write in the request."""

    column: str
    kind: DifferenceKind
    detail: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class SchemaComparison:
    """What a sent schema asks of a table's: `changes` that it can take over, `differences` that it cannot."""

    match: SchemaMatch
    changes: tuple[SchemaChange, ...] = ()
    differences: tuple[SchemaDifference, ...] = ()


class ColumnChangeKind(StrEnum):
    """What became of a column."""

    ADDED = "ADDED"
    WIDENED = "WIDENED"
    MADE_OPTIONAL = "MADE_OPTIONAL"


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A change that was made, for people. `column` has dots into structs, lists and maps.

    `before` and `after` are types as `service.model.tables.schemas.type_text` spells them, where they are
    others.
    """

    column: str
    kind: ColumnChangeKind
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class TableEvolution:
    """What an ingest has made of a table, so that its records could be written."""

    table: TableName
    is_created: bool = False
    changes: tuple[ColumnChange, ...] = ()
