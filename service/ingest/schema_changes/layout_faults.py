"""Finds faults in the partition spec or the sort order of a new table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from service.model.tables.schemas import Field, Primitive, Struct
from service.model.tables.table_creation import TableLayout, partition_name
from service.model.tables.tables import PartitionField, SortField
from service.model.tables.transforms import is_made_of, is_partition_of, transform_fault

Fault = tuple[str, str]
"""A place, as a JSON pointer without its first slash, and a reason."""


def layout_faults(columns: tuple[Field, ...], layout: TableLayout) -> Iterator[Fault]:
    """Yields every reason why the layout does not fit these columns; none if it does."""
    types = dict(_types(columns, ""))
    names: set[str] = set()
    made: set[tuple[str, str]] = set()
    for index, field in enumerate(layout.partition_fields):
        place = f"partitionSpec/{index}"
        yield from _source_faults(place, field.source, field.transform, types, is_partition_of)
        yield from _name_faults(place, field, types, names)
        # Iceberg allows only one bucket of a column, whatever its size.
        kind = (field.source, field.transform.partition("[")[0])
        if kind in made:
            yield f"{place}/transform", f"{field.source} is partitioned by {kind[1]} already"
        made.add(kind)
    yield from sort_order_faults(columns, layout.sort_fields)


def sort_order_faults(columns: tuple[Field, ...], fields: Sequence[SortField]) -> Iterator[Fault]:
    """Yields every reason why rows with these columns cannot be in this order."""
    types = dict(_types(columns, "")) if fields else {}
    for index, field in enumerate(fields):
        yield from _source_faults(f"sortOrder/{index}", field.source, field.transform, types, is_made_of)


def _types(fields: tuple[Field, ...], prefix: str) -> Iterator[tuple[str, Field]]:
    for field in fields:
        yield prefix + field.name, field
        if isinstance(field.type, Struct):
            yield from _types(field.type.fields, f"{prefix}{field.name}.")


def _source_faults(
    place: str,
    source: str,
    transform: str,
    types: Mapping[str, Field],
    fits: Callable[[str, str], bool],
) -> Iterator[Fault]:
    field = types.get(source)
    if field is None:
        yield f"{place}/source", f"the schema has no field {source} outside of lists and maps"
    elif not isinstance(field.type, Primitive):
        yield f"{place}/source", f"{source} has fields of its own: name one of them"
    elif reason := transform_fault(transform):
        yield f"{place}/transform", reason
    elif not fits(transform, field.type.name):
        yield f"{place}/transform", f"{transform} cannot be made of {field.type.name}"


def _name_faults(
    place: str, field: PartitionField, types: Mapping[str, Field], names: set[str]
) -> Iterator[Fault]:
    name = partition_name(field)
    if name.lower() in names:
        yield f"{place}/name", f"{name} is the name of another partition field"
    names.add(name.lower())
    is_own = field.transform == "identity" and name == field.source
    if not is_own and name.lower() in {column.lower() for column in types}:
        yield f"{place}/name", f"{name} is the name of a column: give the partition field another one"
