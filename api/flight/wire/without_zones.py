"""Timestamps as the JDBC driver can read them: without a zone, in local time of the session.

The driver's `getObject` does not read timestamps that have a zone, and many tools call nothing else.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

_JDBC_AGENT = "grpc-java"


def is_jdbc(user_agent: str) -> bool:
    """Whether a client is a Java program, which reads through the JDBC driver.

    >>> is_jdbc("grpc-java-netty/1.71.0"), is_jdbc("grpc-go/1.79.1")
    (True, False)
    """
    return _JDBC_AGENT in user_agent.lower()


def type_without_zone(kind: pa.DataType) -> pa.DataType:
    """Returns the type, in which no timestamp has a zone.

    >>> str(type_without_zone(pa.list_(pa.timestamp("us", "UTC"))))
    'list<item: timestamp[us]>'
    """
    if not _has_zone(kind):
        return kind
    if pa.types.is_timestamp(kind):
        return pa.timestamp(kind.unit)
    if pa.types.is_map(kind):
        return pa.map_(_field(kind.key_field), _field(kind.item_field))
    if pa.types.is_list(kind):
        return pa.list_(_field(kind.value_field))
    return pa.struct([_field(kind.field(index)) for index in range(kind.num_fields)])


def schema_without_zones(schema: pa.Schema) -> pa.Schema:
    """Returns the schema, in which no timestamp has a zone."""
    return pa.schema([_field(field) for field in schema], schema.metadata)


def without_zones(column: pa.Array, zone: str) -> pa.Array:
    """Returns the column, in which moments are the time of day of `zone` at that moment.

    >>> noon = pa.array([0], pa.timestamp("us", "UTC"))
    >>> without_zones(noon, "Europe/Berlin").to_pylist()
    [datetime.datetime(1970, 1, 1, 1, 0)]
    """
    kind = column.type
    wanted = type_without_zone(kind)
    if wanted == kind:
        return column
    if pa.types.is_timestamp(kind):
        return pc.local_timestamp(column.cast(pa.timestamp(kind.unit, zone)))
    if pa.types.is_struct(kind):
        # `flatten` would put the nulls of the struct into its fields.
        fields = [without_zones(column.field(index), zone) for index in range(kind.num_fields)]
        return pa.StructArray.from_arrays(fields, fields=list(wanted), mask=_mask(column))
    return _list_without_zones(column, wanted, zone)


def _list_without_zones(column: pa.Array, wanted: pa.DataType, zone: str) -> pa.Array:
    # A slice keeps the values of the whole: offsets into these stay right.
    offsets, mask = column.offsets, _mask(column)
    if mask is not None:
        # pyarrow takes a mask only with offsets that begin at their buffer.
        offsets = pa.concat_arrays([offsets])
    if pa.types.is_map(wanted):
        keys, items = without_zones(column.keys, zone), without_zones(column.items, zone)
        made = pa.MapArray.from_arrays(_offsets(offsets, mask), keys, items)
        return made.cast(wanted)
    values = without_zones(column.values, zone)
    return pa.ListArray.from_arrays(_offsets(offsets, mask), values).cast(wanted)


def _offsets(offsets: pa.Array, mask: pa.Array | None) -> pa.Array:
    """Returns the offsets, with a null where the list is null: so Arrow takes both together."""
    if mask is None:
        return offsets
    is_null = pa.concat_arrays([mask, pa.array([False])])
    return pc.if_else(is_null, pa.scalar(None, offsets.type), offsets)


def _mask(column: pa.Array) -> pa.Array | None:
    return column.is_null() if column.null_count else None


def _has_zone(kind: pa.DataType) -> bool:
    if pa.types.is_timestamp(kind):
        return kind.tz is not None
    return any(_has_zone(kind.field(index).type) for index in range(kind.num_fields))


def _field(field: pa.Field) -> pa.Field:
    return field.with_type(type_without_zone(field.type))
