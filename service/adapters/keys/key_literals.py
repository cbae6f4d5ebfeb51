"""Converts literals and parameters of a query to values of a column's type."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Context, Decimal, localcontext

from pyiceberg.types import DateType, DecimalType, IcebergType, IntegerType, LongType, StringType
from sqlglot import exp

from service.model.filters.key_selection import LiteralValue
from service.model.query.query import Parameter, Parameters

_INT = 2**31
_BITS = {IntegerType: 31, LongType: 63}
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_DECIMAL = re.compile(r"\d{1,38}\.\d{1,38}")
_COUNT = re.compile(r"-?\d{1,6}")
_MONTHS = {"MONTH": 1, "MONTHS": 1, "YEAR": 12, "YEARS": 12}
_DAYS = {"DAY", "DAYS"}
# An integer is compared as a decimal of ten digits, and a decimal has at most 38 of them.
_MOST_SCALE_BESIDE_INTEGERS = 28
_EXACT = Context(prec=100)


class NotTranslatable(Exception):
    """Something in the query may mean something else here, so the engine must run it."""


def literal_value(node: exp.Expr, type_: IcebergType, parameters: Parameters) -> LiteralValue:
    """Returns the literal as a value of exactly this type: nothing is rounded, padded or widened.

    >>> literal_value(exp.Literal.number(7), LongType(), ())
    7

    Days and months that are added to a date are added here, as Spark does it.

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
        case DateType():
            return _date(node)
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


def _date(node: exp.Expr) -> date:
    node = node.unnest()
    match node:
        case exp.Cast() if node.to.this == exp.DType.DATE:
            return _day(_string(node.this))
        case exp.Add() | exp.Sub():
            return _moved(_date(node.this), node.expression.unnest(), -1 if isinstance(node, exp.Sub) else 1)
        case exp.TsOrDsAdd() if node.text("unit").upper() == "DAY":
            return _moved(_date(node.this), node.expression.unnest(), 1)
        case _:
            raise NotTranslatable


def _moved(day: date, by: exp.Expr, sign: int) -> date:
    """Adds days, or months, which end on the last day of a shorter month."""
    try:
        if not isinstance(by, exp.Interval):
            return day + timedelta(days=sign * _small(_integer(by)))
        unit, count = by.text("unit").upper(), by.this
        if not isinstance(count, exp.Literal) or not _COUNT.fullmatch(count.name):
            raise NotTranslatable
        if unit in _DAYS:
            return day + timedelta(days=sign * int(count.name))
        months = day.year * 12 + day.month - 1 + sign * int(count.name) * _MONTHS[unit]
        year, month = months // 12, months % 12 + 1
        return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))
    except (KeyError, OverflowError, ValueError, calendar.IllegalMonthError) as error:
        raise NotTranslatable from error


def _decimal(node: exp.Expr, type_: DecimalType) -> Decimal:
    """Returns a number that the type holds exactly, with as many digits behind the point as the type."""
    is_negative = isinstance(node, exp.Neg)
    number = node.this.unnest() if is_negative else node
    if isinstance(number, exp.Literal) and not number.is_string and _DECIMAL.fullmatch(number.name):
        value = Decimal(number.name) * (-1 if is_negative else 1)
    elif type_.scale <= _MOST_SCALE_BESIDE_INTEGERS:
        value = Decimal(_integer(node))
    else:
        raise NotTranslatable
    with localcontext(_EXACT):
        exact = value.quantize(Decimal(1).scaleb(-type_.scale))
    if exact != value or len(exact.as_tuple().digits) > type_.precision:
        raise NotTranslatable
    return exact
