"""A frame's columns: how their types are called, and which of them Arrow cannot carry as they are."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it
from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    DataType,
    MapType,
    StructType,
    VariantType,
    YearMonthIntervalType,
)

from service.model.results import Column

_NOT_IN_ARROW = (YearMonthIntervalType, CalendarIntervalType, VariantType)


def result_columns(schema: StructType) -> tuple[Column, ...]:
    """The columns as the caller sees them."""
    return tuple(Column(field.name, sql_type(field.dataType), field.nullable) for field in schema.fields)


def sql_type(data_type: DataType) -> str:
    """A type as SQL spells it.

    >>> from pyspark.sql.types import DecimalType, IntegerType, StructField
    >>> fields = [StructField("Price", DecimalType(7, 2)), StructField("n", IntegerType())]
    >>> sql_type(ArrayType(StructType(fields)))
    'ARRAY<STRUCT<Price: DECIMAL(7,2), n: INT>>'
    """
    if isinstance(data_type, ArrayType):
        return f"ARRAY<{sql_type(data_type.elementType)}>"
    if isinstance(data_type, MapType):
        return f"MAP<{sql_type(data_type.keyType)}, {sql_type(data_type.valueType)}>"
    if isinstance(data_type, StructType):
        fields = ", ".join(f"{field.name}: {sql_type(field.dataType)}" for field in data_type.fields)
        return f"STRUCT<{fields}>"
    return data_type.simpleString().upper()


def in_arrow_types(frame: DataFrame) -> DataFrame:
    """The frame with every column that Arrow cannot carry cast to its text."""
    fields = frame.schema.fields
    if not any(_is_not_in_arrow(field.dataType) for field in fields):
        return frame
    # By position, not by name: a result may have two columns of one name.
    numbered = frame.toDF(*(f"c{position}" for position in range(len(fields))))
    columns = [
        (
            F.col(f"c{position}").cast("string")
            if _is_not_in_arrow(field.dataType)
            else F.col(f"c{position}")
        ).alias(field.name)
        for position, field in enumerate(fields)
    ]
    return numbered.select(*columns)


def _is_not_in_arrow(data_type: DataType) -> bool:
    if isinstance(data_type, ArrayType):
        return _is_not_in_arrow(data_type.elementType)
    if isinstance(data_type, MapType):
        return _is_not_in_arrow(data_type.keyType) or _is_not_in_arrow(data_type.valueType)
    if isinstance(data_type, StructType):
        return any(_is_not_in_arrow(field.dataType) for field in data_type.fields)
    return isinstance(data_type, _NOT_IN_ARROW)
