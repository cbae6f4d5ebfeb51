"""The Arrow schemas of metadata answers, as the specification of Arrow Flight SQL has them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pyarrow as pa

_TEXT = pa.string()


def _required(name: str, data_type: pa.DataType = _TEXT) -> pa.Field:
    return pa.field(name, data_type, nullable=False)


SQL_INFO_VALUE = pa.dense_union(
    [
        pa.field("string_value", _TEXT),
        pa.field("bool_value", pa.bool_()),
        pa.field("bigint_value", pa.int64()),
        pa.field("int32_bitmask", pa.int32()),
        pa.field("string_list", pa.list_(pa.field("string_data", _TEXT))),
        pa.field(
            "int32_to_int32_list_map",
            pa.map_(pa.int32(), pa.list_(pa.field("$data$", pa.int32()))),
        ),
    ]
)
"""Drivers read the members by these names, in this order."""
SQL_INFO = pa.schema([_required("info_name", pa.uint32()), _required("value", SQL_INFO_VALUE)])
CATALOGS = pa.schema([_required("catalog_name")])
SCHEMAS = pa.schema([pa.field("catalog_name", _TEXT), _required("db_schema_name")])
TABLES = pa.schema(
    [
        pa.field("catalog_name", _TEXT),
        pa.field("db_schema_name", _TEXT),
        _required("table_name"),
        _required("table_type"),
    ]
)
TABLES_WITH_SCHEMA = TABLES.append(_required("table_schema", pa.binary()))
TABLE_TYPES = pa.schema([_required("table_type")])
PRIMARY_KEYS = pa.schema(
    [
        pa.field("catalog_name", _TEXT),
        pa.field("db_schema_name", _TEXT),
        _required("table_name"),
        _required("column_name"),
        pa.field("key_name", _TEXT),
        _required("key_sequence", pa.int32()),
    ]
)
FOREIGN_KEYS = pa.schema(
    [
        *(
            field
            for side in ("pk", "fk")
            for field in (
                pa.field(f"{side}_catalog_name", _TEXT),
                pa.field(f"{side}_db_schema_name", _TEXT),
                _required(f"{side}_table_name"),
                _required(f"{side}_column_name"),
            )
        ),
        _required("key_sequence", pa.int32()),
        pa.field("fk_key_name", _TEXT),
        pa.field("pk_key_name", _TEXT),
        _required("update_rule", pa.uint8()),
        _required("delete_rule", pa.uint8()),
    ]
)
XDBC_TYPES = pa.schema(
    [
        _required("type_name"),
        _required("data_type", pa.int32()),
        pa.field("column_size", pa.int32()),
        pa.field("literal_prefix", _TEXT),
        pa.field("literal_suffix", _TEXT),
        pa.field("create_params", pa.list_(_required("item"))),
        _required("nullable", pa.int32()),
        _required("case_sensitive", pa.bool_()),
        _required("searchable", pa.int32()),
        pa.field("unsigned_attribute", pa.bool_()),
        _required("fixed_prec_scale", pa.bool_()),
        pa.field("auto_increment", pa.bool_()),
        pa.field("local_type_name", _TEXT),
        pa.field("minimum_scale", pa.int32()),
        pa.field("maximum_scale", pa.int32()),
        _required("sql_data_type", pa.int32()),
        pa.field("datetime_subcode", pa.int32()),
        pa.field("num_prec_radix", pa.int32()),
        pa.field("interval_precision", pa.int32()),
    ]
)
METADATA: Mapping[str, pa.Schema] = MappingProxyType(
    {
        "CommandGetSqlInfo": SQL_INFO,
        "CommandGetXdbcTypeInfo": XDBC_TYPES,
        "CommandGetCatalogs": CATALOGS,
        "CommandGetDbSchemas": SCHEMAS,
        "CommandGetTables": TABLES,
        "CommandGetTableTypes": TABLE_TYPES,
        "CommandGetPrimaryKeys": PRIMARY_KEYS,
        "CommandGetExportedKeys": FOREIGN_KEYS,
        "CommandGetImportedKeys": FOREIGN_KEYS,
        "CommandGetCrossReference": FOREIGN_KEYS,
    }
)
"""The schema of each metadata command's answer; that of tables may have one column more."""
