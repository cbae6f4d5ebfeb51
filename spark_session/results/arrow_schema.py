"""The Arrow schema of a result, for every Spark type that a result can have."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    CharType,
    DataType,
    MapType,
    NullType,
    StringType,
    StructField,
    StructType,
    UserDefinedType,
    VarcharType,
)


def arrow_schema(schema: StructType, prefers_large_types: bool = False) -> pa.Schema:
    r"""Returns the Arrow schema of a result's rows; names and order are Spark's, also for duplicate names.

    >>> field = StructField("nothing", ArrayType(NullType(), containsNull=False), nullable=False)
    >>> arrow_schema(StructType([field])).to_string()
    'nothing: list<element: null> not null\n  child 0, element: null'
    """
    return to_arrow_schema(sendable_schema(schema), prefers_large_types=prefers_large_types)


def sendable_schema(schema: StructType) -> StructType:
    """Returns the columns with their types as Arrow can have them."""
    return StructType(
        [StructField(field.name, sendable_type(field.dataType), _is_nullable(field)) for field in schema]
    )


def sendable_type(kind: DataType) -> DataType:
    """Returns the type as Arrow can have it.

    - Arrow's null type is always nullable, so a map's keys cannot have it. In Spark, a map with such keys is
      always empty: an empty map with texts as keys is the same.
    - In Arrow, fields of a NULL struct are NULL too: no field of a struct is required.
    """
    match kind:
        case ArrayType():
            return ArrayType(sendable_type(kind.elementType), kind.containsNull or _is_void(kind.elementType))
        case MapType():
            keys = StringType() if _is_void(kind.keyType) else sendable_type(kind.keyType)
            is_optional = kind.valueContainsNull or _is_void(kind.valueType)
            return MapType(keys, sendable_type(kind.valueType), is_optional)
        case StructType():
            return StructType([StructField(field.name, sendable_type(field.dataType)) for field in kind])
        case UserDefinedType():
            return sendable_type(kind.sqlType())
        case CharType() | VarcharType():
            return StringType()
        case _:
            return kind


def _is_nullable(field: StructField) -> bool:
    return field.nullable or _is_void(field.dataType)


def _is_void(kind: DataType) -> bool:
    return isinstance(kind, NullType)
