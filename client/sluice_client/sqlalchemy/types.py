"""The types of Spark that SQLAlchemy does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any

from sqlalchemy import types as sqltypes
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import ArgumentError
from sqlalchemy.sql import operators
from sqlalchemy.sql.expression import literal_column
from sqlalchemy.sql.sqltypes import _AbstractInterval
from sqlalchemy.sql.type_api import NativeForEmulated, to_instance

from sluice_client.sqlalchemy.identifiers import check_marks, full_name
from sluice_client.sqlalchemy.spark_literals import literal_of, text_literal, typed

_ANY_OPERATOR: Any = getattr(getattr(operators, "OperatorClass", None), "ANY", None)
"""SQLAlchemy 2.1 asks types for it."""
FieldSpec = tuple[str, "sqltypes.TypeEngine[Any] | type[sqltypes.TypeEngine[Any]]"]


class TINYINT(sqltypes.Integer):
    """A whole number of 8 bits."""

    __visit_name__ = "TINYINT"


class INTERVAL(NativeForEmulated, _AbstractInterval):
    """An interval. Those of days and seconds are `timedelta`, those of years and months are text.

    `INTERVAL("YEAR TO MONTH")`, for instance. Tables of Iceberg have no intervals.
    """

    __visit_name__ = "INTERVAL"
    native = True
    # No parameter of a gateway is an interval.
    render_bind_cast = True

    def __init__(self, fields: str = "DAY TO SECOND") -> None:
        if not all(word.isascii() and word.isalpha() for word in fields.split(" ")):
            raise ArgumentError(f"the fields of an interval are words such as DAY TO SECOND, not {fields!r}")
        self.fields = fields.upper()

    @classmethod
    def adapt_emulated_to_native(cls, interval: sqltypes.Interval, **kw: Any) -> INTERVAL:  # type: ignore[override]
        """Returns what SQLAlchemy's `Interval` is."""
        return cls()

    @property
    def python_type(self) -> type[timedelta]:
        """The type of its values, unless they are text."""
        return timedelta

    def literal_processor(self, dialect: Dialect) -> Callable[[timedelta], str]:
        """Returns what writes a literal of days and seconds."""
        return lambda value: f"INTERVAL '{_day_to_second(value)}' DAY TO SECOND"

    def bind_processor(self, dialect: Dialect) -> Callable[[timedelta | None], str | None]:
        """Returns what makes a text, which the statement casts."""
        return lambda value: None if value is None else _day_to_second(value)


class VARIANT(sqltypes.TypeEngine[Any]):
    """A value that says its own type."""

    __visit_name__ = "VARIANT"
    operator_classes = _ANY_OPERATOR


class MAP(sqltypes.Indexable, sqltypes.TypeEngine[Any]):
    """A map. Its values are lists of pairs, as the driver returns them; `column["key"]` is one value."""

    __visit_name__ = "MAP"
    operator_classes = _ANY_OPERATOR

    def __init__(
        self,
        key: sqltypes.TypeEngine[Any] | type[sqltypes.TypeEngine[Any]],
        value: sqltypes.TypeEngine[Any] | type[sqltypes.TypeEngine[Any]],
    ) -> None:
        self.key = to_instance(key)
        self.value = to_instance(value)

    def literal_processor(self, dialect: Dialect) -> Callable[[Any], str]:
        """Returns what writes a literal of a dictionary, or of pairs."""

        def literal(value: Any) -> str:
            pairs = value.items() if isinstance(value, Mapping) else value
            parts = [
                literal_of(part, kind, dialect)
                for pair in pairs
                for part, kind in zip(pair, (self.key, self.value), strict=True)
            ]
            return typed(f"map({', '.join(parts)})", self, dialect)

        return literal

    class Comparator(sqltypes.Indexable.Comparator[Any]):
        """`column["key"]`."""

        __slots__ = ()

        def _setup_getitem(self, index: Any) -> tuple[Any, Any, Any]:
            mine: Any = self.type
            return operators.getitem, index, mine.value

    comparator_factory = Comparator


class STRUCT(sqltypes.Indexable, sqltypes.TypeEngine[Any]):
    """A struct. Its values are dictionaries; `column["field"]` is one field."""

    __visit_name__ = "STRUCT"
    operator_classes = _ANY_OPERATOR

    def __init__(self, fields: Iterable[FieldSpec]) -> None:
        self.fields = tuple((name, to_instance(kind)) for name, kind in fields)

    def literal_processor(self, dialect: Dialect) -> Callable[[Mapping[str, Any]], str]:
        """Returns what writes a literal of a dictionary. Fields that it does not have are NULL."""

        def literal(value: Mapping[str, Any]) -> str:
            unknown = value.keys() - {name for name, _ in self.fields}
            if unknown:
                raise ArgumentError(f"the struct has no field {min(unknown)!r}")
            parts = [
                f"{text_literal(name)}, {literal_of(value.get(name), kind, dialect)}"
                for name, kind in self.fields
            ]
            return typed(f"named_struct({', '.join(parts)})", self, dialect)

        return literal

    class Comparator(sqltypes.Indexable.Comparator[Any]):
        """`column["field"]`."""

        __slots__ = ()

        def _setup_getitem(self, index: Any) -> tuple[Any, Any, Any]:
            mine: Any = self.type
            for name, kind in mine.fields:
                if name == index:
                    check_marks(name)
                    # A parameter would not be a part of the key by which texts are cached.
                    return operators.getitem, literal_column(full_name(name)), kind
            raise ArgumentError(f"the struct has no field {index!r}")

    comparator_factory = Comparator


def _day_to_second(value: timedelta) -> str:
    """Returns an interval as Spark reads it.

    >>> _day_to_second(timedelta(hours=-25))
    '-1 1:0:0.000000'
    """
    whole = abs(value)
    hours, seconds = divmod(whole.seconds, 3600)
    sign = "-" if value < timedelta() else ""
    return f"{sign}{whole.days} {hours}:{seconds // 60}:{seconds % 60}.{whole.microseconds:06d}"
