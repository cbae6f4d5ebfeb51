"""The columns of a query's result, and its parameters."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.query.query import JsonScalar
from service.model.query.results import Column


@dataclass(frozen=True, slots=True)
class ParameterType:
    """A parameter of a query. `type_name` is None if the query leaves its type open.

    The name of a positional parameter is its number, from 1 on.
    """

    name: str
    type_name: str | None


@dataclass(frozen=True, slots=True)
class Description:
    """The columns of a query's result, and the query's parameters in the order of its text."""

    columns: tuple[Column, ...]
    parameters: tuple[ParameterType, ...] = ()


def type_of_value(value: JsonScalar) -> str | None:
    """Returns the SQL type that a JSON value has without a type of its own.

    >>> [type_of_value(value) for value in (True, 7, 2**40, 1.5, "a", None)]
    ['BOOLEAN', 'INT', 'BIGINT', 'DOUBLE', 'STRING', None]
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, int):
        return "INT" if -(2**31) <= value < 2**31 else "BIGINT"
    return "DOUBLE" if isinstance(value, float) else "STRING"
