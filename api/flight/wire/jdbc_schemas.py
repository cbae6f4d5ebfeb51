"""Schemas as the JDBC driver of Arrow Flight SQL reads them and binds values by them."""

from __future__ import annotations

import pyarrow as pa

from api.flight.wire.without_zones import schema_without_zones

FACT = "ARROW:FLIGHT:SQL:"
"""Begins the names of what drivers read of a column."""
_DRIVERS_UNIT = "ms"


def columns_for_jdbc(schema: pa.Schema) -> pa.Schema:
    """Returns the columns of rows: without zones, and decimals with the digits that the driver reports.

    >>> columns_for_jdbc(pa.schema({"d": pa.decimal128(7, 2)})).field("d").metadata[b"ARROW:FLIGHT:SQL:SCALE"]
    b'2'
    """
    return pa.schema([_with_digits(field) for field in schema_without_zones(schema)], schema.metadata)


def parameters_for_jdbc(schema: pa.Schema) -> pa.Schema:
    """Returns the parameters of a statement, so that the driver binds the moments that it was given.

    The driver writes the milliseconds of local time, whatever the unit of the parameter is. In Spark's
    microseconds, they would be moments in January 1970.

    >>> parameters_for_jdbc(pa.schema({"1": pa.timestamp("us", "UTC")}))
    1: timestamp[ms]
    """
    return pa.schema(
        [
            field.with_type(pa.timestamp(_DRIVERS_UNIT)) if pa.types.is_timestamp(field.type) else field
            for field in schema
        ]
    )


def digits_of(kind: pa.DataType) -> dict[str, str]:
    """Returns the facts about the digits of a type; none, if it is not a decimal."""
    if not pa.types.is_decimal(kind):
        return {}
    return {"PRECISION": str(kind.precision), "SCALE": str(kind.scale)}


def _with_digits(field: pa.Field) -> pa.Field:
    facts = {f"{FACT}{fact}": value for fact, value in digits_of(field.type).items()}
    return field.with_metadata({**(field.metadata or {}), **facts}) if facts else field
