"""SQLAlchemy's types whose literals Spark spells in its own way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from sqlalchemy import types as sqltypes
from sqlalchemy.engine import Dialect

from sluice_client.sqlalchemy.spark_literals import literal_of, typed
from sluice_client.sqlalchemy.types import INTERVAL


class SparkDate(sqltypes.Date):
    """A date, as `DATE'2000-01-01'` in a literal."""

    def literal_processor(self, dialect: Dialect) -> Callable[[date], str]:
        """Returns what writes a literal."""
        return lambda value: f"DATE'{value.isoformat()}'"


class SparkDateTime(sqltypes.DateTime):
    """A moment. It has a time zone in SQL if the value has one."""

    def literal_processor(self, dialect: Dialect) -> Callable[[datetime], str]:
        """Returns what writes a literal."""

        def literal(value: datetime) -> str:
            word = "TIMESTAMP_NTZ" if value.tzinfo is None else "TIMESTAMP"
            return f"{word}'{value.isoformat(sep=' ')}'"

        return literal


class SparkBinary(sqltypes.LargeBinary):
    """Bytes, as `X'00FF'` in a literal."""

    def literal_processor(self, dialect: Dialect) -> Callable[[bytes], str]:
        """Returns what writes a literal."""
        return lambda value: f"X'{bytes(value).hex().upper()}'"

    def bind_processor(self, dialect: Dialect) -> None:
        """Changes nothing: the driver takes bytes."""

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        """Changes nothing: the driver returns bytes."""


class SparkArray(sqltypes.ARRAY[Any]):
    """An array, as `CAST(array(1, 2) AS ARRAY<INT>)` in a literal."""

    def literal_processor(self, dialect: Dialect) -> Callable[[Any], str]:
        """Returns what writes a literal of a list, or of lists in lists if the array has dimensions."""

        def literal(values: Any, levels: int) -> str:
            if values is None:
                return "NULL"
            if levels == 0:
                return literal_of(values, self.item_type, dialect)
            return f"array({', '.join(literal(value, levels - 1) for value in values)})"

        return lambda values: typed(literal(values, self.dimensions or 1), self, dialect)

    def bind_processor(self, dialect: Dialect) -> None:
        """Changes nothing: an array is a literal."""

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        """Changes nothing: the driver returns lists."""


COLSPECS: dict[type[sqltypes.TypeEngine[Any]], type[sqltypes.TypeEngine[Any]]] = {
    sqltypes.ARRAY: SparkArray,
    sqltypes.Date: SparkDate,
    sqltypes.DateTime: SparkDateTime,
    sqltypes.LargeBinary: SparkBinary,
    sqltypes.BINARY: SparkBinary,
    sqltypes.VARBINARY: SparkBinary,
    sqltypes.Interval: INTERVAL,
}
