"""A frame's columns: the names of their types, and the types that Arrow cannot carry as they are."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it
from pyspark.sql.types import (
    ArrayType,
    CalendarIntervalType,
    DataType,
    MapType,
    StructField,
    StructType,
    VariantType,
    YearMonthIntervalType,
)

from service.model.query.results import Column as ResultColumn

_MONTHS = (("P", "YEAR"), ("Y", "MONTH"))
_ISO_UNITS: Mapping[type[DataType], tuple[tuple[str, str], ...]] = {
    YearMonthIntervalType: _MONTHS,
    CalendarIntervalType: (*_MONTHS, ("M", "DAY"), ("DT", "HOUR"), ("H", "MINUTE"), ("M", "SECOND")),
}
"""The text before each unit; after the last one comes its initial."""
_NOT_IN_ARROW = (YearMonthIntervalType, CalendarIntervalType, VariantType)
# Arrow's readers refuse types of more than 64 levels; a map takes two of them.
MAX_ARROW_LEVELS = 60


def result_columns(schema: StructType) -> tuple[ResultColumn, ...]:
    """Returns the columns as the caller sees them."""
    return tuple(
        ResultColumn(field.name, sql_type(field.dataType), field.nullable) for field in schema.fields
    )


def sql_type(data_type: DataType) -> str:
    """Returns a type as SQL spells it.

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
    """Converts types that Arrow cannot carry to text: intervals in ISO 8601, the rest as Spark writes it.

    Intervals inside arrays, structs and maps are part of Spark's text of the whole. So are values of a type
    with more levels than Arrow's readers take.
    """
    fields = frame.schema.fields
    if not any(_is_not_in_arrow(field.dataType) for field in fields):
        return frame
    # By position, not by name: a result may have two columns of one name.
    names = [f"c{position}" for position in range(len(fields))]
    columns = [_carried(name, field).alias(field.name) for name, field in zip(names, fields, strict=True)]
    return frame.toDF(*names).select(*columns)


def _carried(name: str, field: StructField) -> Column:
    if not _is_not_in_arrow(field.dataType):
        return F.col(name)
    units = _ISO_UNITS.get(type(field.dataType))
    if units is None:
        return F.col(name).cast("string")
    # An INTERVAL MONTH has no years to extract.
    is_months = isinstance(field.dataType, YearMonthIntervalType)
    whole = f"CAST({name} AS INTERVAL YEAR TO MONTH)" if is_months else name
    parts = ", ".join(f"'{before}', extract({unit} FROM {whole})" for before, unit in units)
    return F.expr(f"concat({parts}, '{units[-1][1][0]}')")


def _is_not_in_arrow(data_type: DataType, levels: int = MAX_ARROW_LEVELS) -> bool:
    if levels <= 0:
        return True
    if isinstance(data_type, ArrayType):
        return _is_not_in_arrow(data_type.elementType, levels - 1)
    if isinstance(data_type, MapType):
        return any(_is_not_in_arrow(part, levels - 2) for part in (data_type.keyType, data_type.valueType))
    if isinstance(data_type, StructType):
        return any(_is_not_in_arrow(field.dataType, levels - 1) for field in data_type.fields)
    return isinstance(data_type, _NOT_IN_ARROW)
