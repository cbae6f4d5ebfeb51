"""The tables of metadata: names, types and order of columns are those of JDBC's `DatabaseMetaData`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from api.hive_server.metadata.sql_types import BASIC, sql_type
from api.sql_protocols.listing import KeyColumn, ListedColumn
from service.model.tables.contents import RelationEntry, RelationKind, SchemaEntry

_TEXT, _INT, _SHORT, _FLAG = pa.string(), pa.int32(), pa.int16(), pa.bool_()
_NULLABLE, _NOT_NULLABLE = 1, 0
_SEARCHABLE, _UNSEARCHABLE = 3, 0
_FUNCTION_UNKNOWN = 0
TABLE_TYPES = {
    "TABLE": RelationKind.TABLE,
    "MANAGED_TABLE": RelationKind.TABLE,
    "EXTERNAL_TABLE": RelationKind.TABLE,
    "BASE TABLE": RelationKind.TABLE,
    "VIEW": RelationKind.VIEW,
    "VIRTUAL_VIEW": RelationKind.VIEW,
}
"""The types that drivers name."""


def _texts(*names: str) -> list[tuple[str, pa.DataType]]:
    return [(name, _TEXT) for name in names]


CATALOGS = pa.schema(_texts("TABLE_CAT"))
SCHEMAS = pa.schema(_texts("TABLE_SCHEM", "TABLE_CATALOG"))
TABLES = pa.schema(
    _texts(
        *("TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "TABLE_TYPE", "REMARKS", "TYPE_CAT", "TYPE_SCHEM"),
        *("TYPE_NAME", "SELF_REFERENCING_COL_NAME", "REF_GENERATION"),
    )
)
KINDS = pa.schema(_texts("TABLE_TYPE"))
COLUMNS = pa.schema(
    [
        *_texts("TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME"),
        ("DATA_TYPE", _INT),
        ("TYPE_NAME", _TEXT),
        ("COLUMN_SIZE", _INT),
        ("BUFFER_LENGTH", pa.int8()),
        ("DECIMAL_DIGITS", _INT),
        ("NUM_PREC_RADIX", _INT),
        ("NULLABLE", _INT),
        *_texts("REMARKS", "COLUMN_DEF"),
        ("SQL_DATA_TYPE", _INT),
        ("SQL_DATETIME_SUB", _INT),
        ("CHAR_OCTET_LENGTH", _INT),
        ("ORDINAL_POSITION", _INT),
        *_texts("IS_NULLABLE", "SCOPE_CATALOG", "SCOPE_SCHEMA", "SCOPE_TABLE"),
        ("SOURCE_DATA_TYPE", _SHORT),
        *_texts("IS_AUTO_INCREMENT"),
    ]
)
TYPES = pa.schema(
    [
        ("TYPE_NAME", _TEXT),
        ("DATA_TYPE", _INT),
        ("PRECISION", _INT),
        *_texts("LITERAL_PREFIX", "LITERAL_SUFFIX", "CREATE_PARAMS"),
        ("NULLABLE", _SHORT),
        ("CASE_SENSITIVE", _FLAG),
        ("SEARCHABLE", _SHORT),
        *[(name, _FLAG) for name in ("UNSIGNED_ATTRIBUTE", "FIXED_PREC_SCALE", "AUTO_INCREMENT")],
        ("LOCAL_TYPE_NAME", _TEXT),
        ("MINIMUM_SCALE", _SHORT),
        ("MAXIMUM_SCALE", _SHORT),
        *[(name, _INT) for name in ("SQL_DATA_TYPE", "SQL_DATETIME_SUB", "NUM_PREC_RADIX")],
    ]
)
FUNCTIONS = pa.schema(
    [
        *_texts("FUNCTION_CAT", "FUNCTION_SCHEM", "FUNCTION_NAME", "REMARKS"),
        ("FUNCTION_TYPE", _INT),
        *_texts("SPECIFIC_NAME"),
    ]
)
PRIMARY_KEYS = pa.schema(
    [
        *_texts("TABLE_CAT", "TABLE_SCHEM", "TABLE_NAME", "COLUMN_NAME"),
        ("KEY_SEQ", _INT),
        *_texts("PK_NAME"),
    ]
)
CROSS_REFERENCE = pa.schema(
    [
        *_texts("PKTABLE_CAT", "PKTABLE_SCHEM", "PKTABLE_NAME", "PKCOLUMN_NAME"),
        *_texts("FKTABLE_CAT", "FKTABLE_SCHEM", "FKTABLE_NAME", "FKCOLUMN_NAME"),
        *[(name, _SHORT) for name in ("KEY_SEQ", "UPDATE_RULE", "DELETE_RULE")],
        *_texts("FK_NAME", "PK_NAME"),
        ("DEFERRABILITY", _SHORT),
    ]
)


def catalogs_table(names: Iterable[str]) -> pa.Table:
    """Returns the answer of `getCatalogs`."""
    return _table(CATALOGS, [{"TABLE_CAT": name} for name in names])


def schemas_table(entries: Iterable[SchemaEntry]) -> pa.Table:
    """Returns the answer of `getSchemas`."""
    rows = [{"TABLE_SCHEM": entry.schema, "TABLE_CATALOG": entry.catalog} for entry in entries]
    return _table(SCHEMAS, rows)


def tables_table(entries: Iterable[RelationEntry]) -> pa.Table:
    """Returns the answer of `getTables`, in the order that JDBC wants: by type first."""
    ordered = sorted(entries, key=lambda entry: (entry.kind.value, entry.name))
    rows = [
        {
            "TABLE_CAT": entry.name.catalog,
            "TABLE_SCHEM": entry.name.schema,
            "TABLE_NAME": entry.name.table,
            "TABLE_TYPE": entry.kind.value,
            "REMARKS": entry.comment or "",
        }
        for entry in ordered
    ]
    return _table(TABLES, rows)


def kinds_table() -> pa.Table:
    """Returns the answer of `getTableTypes`."""
    return _table(KINDS, [{"TABLE_TYPE": kind.value} for kind in RelationKind])


def columns_table(listed: Iterable[ListedColumn]) -> pa.Table:
    """Returns the answer of `getColumns`."""
    return _table(COLUMNS, [_column(found) for found in listed])


def primary_keys_table(listed: Iterable[KeyColumn]) -> pa.Table:
    """Returns the answer of `getPrimaryKeys`, in the order that JDBC wants: by the names of columns."""
    rows = [
        {
            "TABLE_CAT": found.relation.catalog,
            "TABLE_SCHEM": found.relation.schema,
            "TABLE_NAME": found.relation.table,
            "COLUMN_NAME": found.column,
            "KEY_SEQ": found.position,
        }
        for found in sorted(listed, key=lambda found: found.column)
    ]
    return _table(PRIMARY_KEYS, rows)


def types_table() -> pa.Table:
    """Returns the answer of `getTypeInfo`."""
    rows = []
    for known in BASIC:
        is_text = known.name in ("STRING", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ")
        is_single = known.name not in ("ARRAY", "MAP", "STRUCT", "VOID")
        rows.append(
            {
                "TYPE_NAME": known.name,
                "DATA_TYPE": known.number,
                "PRECISION": known.size,
                "LITERAL_PREFIX": "'" if is_text else None,
                "LITERAL_SUFFIX": "'" if is_text else None,
                "CREATE_PARAMS": "precision,scale" if known.name == "DECIMAL" else None,
                "NULLABLE": _NULLABLE,
                "CASE_SENSITIVE": known.name == "STRING",
                "SEARCHABLE": _SEARCHABLE if is_single else _UNSEARCHABLE,
                "UNSIGNED_ATTRIBUTE": known.radix is None,
                "FIXED_PREC_SCALE": False,
                "AUTO_INCREMENT": False,
                "LOCAL_TYPE_NAME": known.name,
                "MINIMUM_SCALE": 0,
                "MAXIMUM_SCALE": 38 if known.name == "DECIMAL" else 0,
                "NUM_PREC_RADIX": known.radix,
            }
        )
    return _table(TYPES, rows)


def functions_table(names: Iterable[str]) -> pa.Table:
    """Returns the answer of `getFunctions`."""
    rows = [
        {"FUNCTION_NAME": name, "REMARKS": "", "FUNCTION_TYPE": _FUNCTION_UNKNOWN, "SPECIFIC_NAME": name}
        for name in names
    ]
    return _table(FUNCTIONS, rows)


def _column(found: ListedColumn) -> dict[str, Any]:
    column, name = found.column, found.relation
    kind = sql_type(column.type_name, is_iceberg=found.is_iceberg)
    return {
        "TABLE_CAT": name.catalog,
        "TABLE_SCHEM": name.schema,
        "TABLE_NAME": name.table,
        "COLUMN_NAME": column.name,
        "DATA_TYPE": kind.number,
        "TYPE_NAME": kind.name,
        "COLUMN_SIZE": kind.size,
        "DECIMAL_DIGITS": kind.digits,
        "NUM_PREC_RADIX": kind.radix,
        "NULLABLE": _NOT_NULLABLE if column.is_required else _NULLABLE,
        "REMARKS": column.doc or "",
        "ORDINAL_POSITION": found.position,
        "IS_NULLABLE": "NO" if column.is_required else "YES",
        "IS_AUTO_INCREMENT": "NO",
    }


def _table(schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema)
