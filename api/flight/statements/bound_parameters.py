"""Values that clients bind to `?`: from a batch of Arrow to the gateway's parameters."""

from __future__ import annotations

import base64
import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from service.errors.statement_errors import ParameterInvalid
from service.model.query.query import JsonScalar, Parameter

_NAMES = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.uint8(): "SMALLINT",
    pa.uint16(): "INT",
    pa.uint32(): "BIGINT",
    pa.uint64(): "DECIMAL(20,0)",
    pa.float16(): "FLOAT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "STRING",
    pa.large_string(): "STRING",
    pa.string_view(): "STRING",
    pa.binary(): "BINARY",
    pa.large_binary(): "BINARY",
    pa.binary_view(): "BINARY",
    pa.date32(): "DATE",
    pa.date64(): "DATE",
}


def parameters_of(batch: pa.RecordBatch | pa.Table) -> tuple[Parameter, ...]:
    """Returns the values of the batch's one row, in the order of its columns.

    Raises:
        ParameterInvalid: there are more rows or none, or a type cannot be bound.

    >>> parameters_of(pa.table({"a": pa.array([7], pa.int32()), "b": [Decimal("1.50")]}))
    (Parameter(value=7, type_name='INT'), Parameter(value='1.50', type_name='DECIMAL(3,2)'))
    """
    if batch.num_columns == 0:
        return ()
    if batch.num_rows != 1:
        raise ParameterInvalid(
            f"{batch.num_rows} rows of values came. A query takes one: send the others one by one."
        )
    return tuple(_parameter(number, batch.column(number - 1)) for number in range(1, batch.num_columns + 1))


def _parameter(number: int, column: pa.Array | pa.ChunkedArray) -> Parameter:
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_null(kind):
        return Parameter(None)
    type_name = _type_name(number, kind)
    try:
        return Parameter(_value(_moment(column[0], kind)), type_name)
    except (pa.ArrowException, ValueError, OverflowError):
        raise ParameterInvalid(f"Parameter {number}: the value is not one of type {type_name}.") from None


def _type_name(number: int, kind: pa.DataType) -> str:
    known = _NAMES.get(kind)
    if known is not None:
        return known
    if pa.types.is_decimal(kind) and 0 <= kind.scale <= kind.precision <= 38:
        return f"DECIMAL({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "TIMESTAMP_NTZ" if kind.tz is None else "TIMESTAMP"
    raise ParameterInvalid(f"Parameter {number}: a value of the type {kind} cannot be bound.")


def _moment(scalar: pa.Scalar, kind: pa.DataType) -> pa.Scalar:
    """Returns the value in Spark's unit. A finer one would be rounded, which is an error here."""
    if not pa.types.is_timestamp(kind):
        return scalar
    return scalar.cast(pa.timestamp("us", None if kind.tz is None else "UTC"))


def _value(scalar: pa.Scalar) -> JsonScalar:
    value: Any = scalar.as_py()
    match value:
        case datetime() | date():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case bytes():
            return base64.b64encode(value).decode()
        case float() if not math.isfinite(value):
            raise ValueError(value)
        case _:
            known: JsonScalar = value
            return known
