"""Converts literals and parameters of a query to values of a column's type."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from pyiceberg.types import DateType, DecimalType, IcebergType, IntegerType, LongType, StringType
from sqlglot import exp

from service.model.filters.key_selection import LiteralValue
from service.model.query.query import Parameter, Parameters

_INT = 2**31
_BITS = {IntegerType: 31, LongType: 63}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_DECIMAL = re.compile(r"\d+\.\d+")
_CAST_TO_DATE = (exp.Cast, exp.TryCast)


class NotTranslatable(Exception):
    """Something in the query may mean something else here, so the engine must run it."""


def literal_value(node: exp.Expr, type_: IcebergType, parameters: Parameters) -> LiteralValue:
    """Returns the literal as a value of exactly this type: nothing is rounded, padded or widened.

    >>> literal_value(exp.Literal.number(7), LongType(), ())
    7

    Raises:
        NotTranslatable: it is not a literal, or one of another type.
    """
    node = node.unnest()
    if isinstance(node, exp.Placeholder):
        return _parameter_value(node, type_, parameters)
    match type_:
        case IntegerType() | LongType():
            return _within(_integer(node), type_)
        case StringType():
            return _string(node)
        case DateType() if isinstance(node, _CAST_TO_DATE) and node.to.this == exp.DType.DATE:
            return _day(_string(node.this))
        case DecimalType():
            return _decimal(node, type_)
        case _:
            raise NotTranslatable


def _parameter_value(node: exp.Placeholder, type_: IcebergType, parameters: Parameters) -> LiteralValue:
    parameter = parameters.get(node.name) if isinstance(parameters, Mapping) else None
    match parameter, type_:
        case Parameter(int() as number, None), IntegerType() | LongType() if not isinstance(number, bool):
            return _within(number, type_)
        case Parameter(str() as text, None), StringType():
            return text
        case Parameter(str() as text, str() as name), DateType() if name.strip().upper() == "DATE":
            return _day(text)
        case _:
            raise NotTranslatable


def _integer(node: exp.Expr) -> int:
    node = node.unnest()
    match node:
        case exp.Neg():
            return -_integer(node.this)
        case exp.Add():
            return _small(_integer(node.this)) + _small(_integer(node.expression))
        case exp.Sub():
            return _small(_integer(node.this)) - _small(_integer(node.expression))
        case exp.Literal() if not node.is_string and node.name.isdecimal():
            return int(node.name)
        case _:
            raise NotTranslatable


def _small(number: int) -> int:
    """Rejects numbers whose sums might leave INT, where engines differ."""
    if abs(number) >= _INT // 1024:
        raise NotTranslatable
    return number


def _within(number: int, type_: IntegerType | LongType) -> int:
    limit = 2 ** _BITS[type(type_)]
    if not -limit <= number < limit:
        raise NotTranslatable
    return number


def _string(node: exp.Expr) -> str:
    # Engines are most likely to differ in how they read escapes.
    if not (isinstance(node, exp.Literal) and node.is_string) or set(node.name) & set("\\'\""):
        raise NotTranslatable
    return node.name


def _day(text: str) -> date:
    if not _DAY.fullmatch(text):
        raise NotTranslatable
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise NotTranslatable from error


def _decimal(node: exp.Expr, type_: DecimalType) -> Decimal:
    if isinstance(node, exp.Neg):
        return -_decimal(node.this.unnest(), type_)
    if not isinstance(node, exp.Literal) or node.is_string or not _DECIMAL.fullmatch(node.name):
        raise NotTranslatable
    value: Any = Decimal(node.name)
    if -value.as_tuple().exponent != type_.scale or len(value.as_tuple().digits) > type_.precision:
        raise NotTranslatable
    return Decimal(node.name)
