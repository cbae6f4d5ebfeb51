"""The columns of tables and views, as drivers read them of a listing: types, and their names in SQL."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from api.flight.wire.arrow_types import TypeNotRead, arrow_type
from api.flight.wire.jdbc_schemas import FACT, digits_of
from api.flight.wire.without_zones import type_without_zone
from service.model.tables.tables import TableColumn, TableName

_NAMES = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "STRING",
    pa.binary(): "BINARY",
    pa.date32(): "DATE",
    pa.timestamp("us"): "TIMESTAMP_NTZ",
    pa.timestamp("us", "UTC"): "TIMESTAMP",
    pa.null(): "VOID",
}


def table_schema(name: TableName, columns: Sequence[TableColumn], *, has_zones: bool) -> bytes:
    """Returns the columns as the bytes of a schema. A type that cannot be read is text."""
    schema = pa.schema([_field(name, column, has_zones=has_zones) for column in columns])
    serialized: bytes = schema.serialize().to_pybytes()
    return serialized


def sql_name(kind: pa.DataType) -> str:
    """Returns the name of a type in SQL.

    >>> sql_name(pa.list_(pa.decimal128(7, 2)))
    'ARRAY<DECIMAL(7,2)>'
    """
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_map(kind):
        return f"MAP<{sql_name(kind.key_type)}, {sql_name(kind.item_type)}>"
    if pa.types.is_list(kind):
        return f"ARRAY<{sql_name(kind.value_type)}>"
    if pa.types.is_struct(kind):
        fields = (kind.field(index) for index in range(kind.num_fields))
        return f"STRUCT<{', '.join(f'{field.name}: {sql_name(field.type)}' for field in fields)}>"
    return _NAMES.get(kind, str(kind).upper())


def _field(name: TableName, column: TableColumn, *, has_zones: bool) -> pa.Field:
    try:
        kind = arrow_type(column.type_name)
        type_name = sql_name(kind)
    except TypeNotRead:
        kind, type_name = pa.string(), column.type_name
    facts = {
        "CATALOG_NAME": name.catalog,
        "DB_SCHEMA_NAME": name.schema,
        "TABLE_NAME": name.table,
        "TYPE_NAME": type_name,
        "IS_AUTO_INCREMENT": "0",
        "IS_READ_ONLY": "0",
        "IS_SEARCHABLE": "1",
        "IS_CASE_SENSITIVE": "1" if pa.types.is_string(kind) else "0",
        "REMARKS": column.doc or "",
        **digits_of(kind),
    }
    told = kind if has_zones else type_without_zone(kind)
    metadata = {f"{FACT}{fact}": value for fact, value in facts.items()}
    return pa.field(column.name, told, not column.is_required, metadata)
