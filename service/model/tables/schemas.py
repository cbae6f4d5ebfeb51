"""A table's schema: its fields are identified by ids, whatever their names are.

Source: the Iceberg table specification, "Schemas and Data Types".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

VARIANT = "variant"
"""The name of the type whose values are objects, arrays or scalars of JSON in a binary form."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """A type without fields; `name` is Iceberg's spelling, such as `decimal(7, 2)`."""

    name: str


@dataclass(frozen=True, slots=True)
class Struct:
    """Fields, in their order."""

    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; its elements are a field of their own, named `element`."""

    element: Field


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map; its keys and values are fields of their own, named `key` and `value`."""

    key: Field
    value: Field


FieldType = Primitive | Struct | ListOf | MapOf


@dataclass(frozen=True, slots=True)
class Field:
    """One field. A default is a value as Iceberg writes it in JSON; None when there is none."""

    field_id: int
    name: str
    type: FieldType
    is_required: bool = False
    initial_default: object = None
    write_default: object = None
    doc: str | None = None

    @property
    def children(self) -> tuple[Field, ...]:
        """The fields right below this one."""
        match self.type:
            case Struct(fields):
                return fields
            case ListOf(element):
                return (element,)
            case MapOf(key, value):
                return (key, value)
            case Primitive():
                return ()


@dataclass(frozen=True, slots=True)
class TableSchema:
    """All columns of a table; `identifier_field_ids` are the fields that identify a row."""

    schema_id: int
    columns: tuple[Field, ...]
    identifier_field_ids: frozenset[int] = frozenset()


def fields_with_paths(columns: tuple[Field, ...]) -> Iterator[tuple[tuple[str, ...], Field]]:
    """Yields every field, nested ones too, with the names that lead to it; parents come first.

    >>> inner = Field(2, "city", Primitive("string"))
    >>> [path for path, _ in fields_with_paths((Field(1, "place", Struct((inner,))),))]
    [('place',), ('place', 'city')]
    """
    for column in columns:
        yield (column.name,), column
        for path, field in fields_with_paths(column.children):
            yield (column.name, *path), field


def path_of(columns: tuple[Field, ...], dotted: str) -> tuple[str, ...]:
    """Returns the names that lead to the field of this full name, or the name itself where there is no field.

    Names may have dots in them. Iceberg allows no schema in which two fields have the same full name.

    >>> inner = Field(2, "city", Primitive("string"))
    >>> columns = (Field(1, "place", Struct((inner,))), Field(3, "user.name", Primitive("string")))
    >>> path_of(columns, "place.city"), path_of(columns, "user.name")
    (('place', 'city'), ('user.name',))
    """
    paths = (path for path, _ in fields_with_paths(columns))
    return next((path for path in paths if ".".join(path) == dotted), (dotted,))


def type_text(kind: FieldType) -> str:
    """Returns the type for people, in Iceberg's words and without ids.

    >>> type_text(ListOf(Field(2, "element", Struct((Field(3, "city", Primitive("string")),)))))
    'list<struct<city: string>>'
    """
    match kind:
        case Primitive(name):
            return name
        case Struct(fields):
            return f"struct<{', '.join(f'{field.name}: {type_text(field.type)}' for field in fields)}>"
        case ListOf(element):
            return f"list<{type_text(element.type)}>"
        case MapOf(key, value):
            return f"map<{type_text(key.type)}, {type_text(value.type)}>"


def with_children(kind: FieldType, children: Iterable[Field]) -> FieldType:
    """Returns the same type with other fields right below it; a list takes one, a map two.

    >>> element = Field(2, "element", Primitive("int"))
    >>> with_children(ListOf(Field(3, "element", Primitive("long"))), [element]) == ListOf(element)
    True
    """
    match kind:
        case Struct():
            return Struct(tuple(children))
        case ListOf():
            return ListOf(*children)
        case MapOf():
            return MapOf(*children)
        case Primitive():
            return kind
