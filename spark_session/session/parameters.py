"""A caller's parameters as literals that Spark binds: values are never pasted into the query's text."""

from __future__ import annotations

import base64
import binascii
import re
import sys
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import Context, Decimal, InvalidOperation
from typing import Any

from pyspark import SparkContext
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - everybody's name for it

from service.errors.statement_errors import ParameterInvalid
from service.model.calendar import date_text, day_of, moment_of, moment_text
from service.model.query.query import JsonScalar, Parameter, Parameters


def spark_arguments(parameters: Parameters) -> dict[str, Any] | list[Any]:
    """Returns the arguments for `spark.sql(text, args)`.

    Raises:
        ParameterInvalid: a value does not fit its type.
    """
    if not parameters:
        # With a list, PySpark would first ask the JVM for a class by each of its names, for two milliseconds.
        return {}
    if isinstance(parameters, Mapping):
        return {name: _literal(name, parameter) for name, parameter in parameters.items()}
    return [_literal(str(position), parameter) for position, parameter in enumerate(parameters, start=1)]


def _literal(name: str, parameter: Parameter) -> Column | JsonScalar:
    value, type_name = parameter.value, parameter.type_name
    if type_name is None:
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise ParameterInvalid(
                f"Parameter {name}: {value} has more than 64 bits; give it a DECIMAL type."
            )
        return value
    spelled = _TYPE.fullmatch(type_name.strip().upper())
    convert = _CONVERSIONS.get(spelled["base"]) if spelled else None
    if spelled is None or convert is None:
        known = ", ".join(sorted(_CONVERSIONS))
        raise ParameterInvalid(f"Parameter {name}: {type_name} is not one of {known}.")
    try:
        if value is None:
            return _typed(None, spelled[0])
        return convert(value, spelled["arguments"] or "")
    except (ValueError, TypeError, OverflowError, InvalidOperation, binascii.Error) as failure:
        raise ParameterInvalid(
            f"Parameter {name}: {value!r} is not a value of type {type_name}."
        ) from failure


def _typed(value: Decimal | None, type_name: str) -> Column:
    """Returns a literal of exactly this type; a parsed literal has the type that its digits need."""
    jvm = SparkContext._jvm
    assert jvm is not None  # as PySpark's own functions do
    data_type = jvm.org.apache.spark.sql.types.DataType.fromDDL(type_name)
    literal = jvm.org.apache.spark.sql.catalyst.expressions.Literal.create(value, data_type)
    return Column(jvm.org.apache.spark.sql.classic.ExpressionUtils.column(literal))


def _integer(suffix: str, bits: int) -> Callable[[JsonScalar, str], Column]:
    def convert(value: JsonScalar, _: str) -> Column:
        number = int(_text(value)) if isinstance(value, str) else value
        if isinstance(number, bool) or not isinstance(number, int):
            raise TypeError(value)
        if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
            raise ValueError(value)
        return F.expr(f"{number}{suffix}")

    return convert


def _floating(suffix: str, largest: float) -> Callable[[JsonScalar, str], Column]:
    def convert(value: JsonScalar, _: str) -> Column:
        if isinstance(value, bool) or value is None:
            raise TypeError(value)
        number = float(value)
        if not abs(number) <= largest:  # in this form, it refuses NaN too
            raise ValueError(value)
        return F.expr(f"{number!r}{suffix}")

    return convert


DEFAULT_DECIMAL = "38,18"
# Python would round at 28 digits; Spark's decimals have up to 38.
_ALL_DIGITS = Context(prec=38)


def _decimal(value: JsonScalar, arguments: str) -> Column | JsonScalar:
    if isinstance(value, bool):
        raise TypeError(value)
    number = Decimal(str(value))
    if not number.is_finite():
        raise ValueError(value)
    precision, _, scale = (arguments or DEFAULT_DECIMAL).partition(",")
    exact = number.quantize(Decimal(1).scaleb(-int(scale or 0)), context=_ALL_DIGITS)
    if exact != number or len(exact.as_tuple().digits) > int(precision):
        raise ValueError(value)
    return _typed(exact, f"DECIMAL({precision},{scale or 0})")


def _date(value: JsonScalar, _: str) -> Column:
    text = _text(value)
    day = date_text(day_of(text)) if _has_sign(text) else date.fromisoformat(text).isoformat()
    return F.expr(f"DATE'{day}'")


def _timestamp(value: JsonScalar, _: str) -> Column:
    text = _text(value)
    moment = _far_moment(text) if _has_sign(text) else datetime.fromisoformat(text).isoformat()
    return F.expr(f"TIMESTAMP'{moment}'")


def _timestamp_ntz(value: JsonScalar, _: str) -> Column:
    text = _text(value)
    if _has_sign(text):
        if moment_of(text)[1]:
            raise ValueError(value)
        return F.expr(f"TIMESTAMP_NTZ'{_far_moment(text)}'")
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is not None:
        raise ValueError(value)
    return F.expr(f"TIMESTAMP_NTZ'{moment.isoformat()}'")


def _has_sign(text: str) -> bool:
    """Whether its year, as results spell it, is outside of Python's range."""
    return text.startswith(("+", "-"))


def _far_moment(text: str) -> str:
    nanoseconds, is_utc = moment_of(text)
    return moment_text(nanoseconds // 1_000, "us", is_utc)


def _binary(value: JsonScalar, _: str) -> Column:
    return F.expr(f"X'{base64.b64decode(_text(value), validate=True).hex()}'")


def _string(value: JsonScalar, _: str) -> Column | JsonScalar:
    return _text(value)


def _boolean(value: JsonScalar, _: str) -> Column | JsonScalar:
    if not isinstance(value, bool):
        raise TypeError(value)
    return value


def _text(value: JsonScalar) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


_TYPE = re.compile(r"(?P<base>[A-Z_]+)\s*(?:\(\s*(?P<arguments>[0-9]+(?:\s*,\s*[0-9]+)?)\s*\))?")
_CONVERSIONS: Mapping[str, Callable[[JsonScalar, str], Column | JsonScalar]] = {
    "STRING": _string,
    "BOOLEAN": _boolean,
    "TINYINT": _integer("Y", 8),
    "SMALLINT": _integer("S", 16),
    "INT": _integer("", 32),
    "BIGINT": _integer("L", 64),
    "FLOAT": _floating("F", 3.4028234663852886e38),
    "DOUBLE": _floating("D", sys.float_info.max),
    "DECIMAL": _decimal,
    "DATE": _date,
    "TIMESTAMP": _timestamp,
    "TIMESTAMP_NTZ": _timestamp_ntz,
    "BINARY": _binary,
}
