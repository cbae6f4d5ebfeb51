"""Arithmetic on the numbers in a text: the engine would evaluate it only with the rest of the query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import inf, isfinite, isnan
from types import MappingProxyType

from spark_session.bounds.sized import UNKNOWN, Sized, number

Operation = Callable[[float, float], float]


def as_number(value: Sized) -> Sized:
    """Turns a text of digits into a number, as Spark does where it needs one.

    >>> as_number(Sized(byte_count=4, text=" 12 ")).high
    12.0
    """
    if value.high is not None or value.text is None:
        return value
    try:
        return number(float(value.text))
    except ValueError:
        return UNKNOWN


def arithmetic(name: str, arguments: Sequence[Sized]) -> Sized | None:
    """Returns the bounds of the call's number; None if it is not arithmetic.

    >>> arithmetic("multiply", [number(1000), number(-2, 3)])
    Sized(byte_count=None, elements=None, low=-2000.0, high=3000.0, micros=None, text=None)
    """
    numbers = [as_number(argument) for argument in arguments]
    if name in UNARY and len(numbers) == 1:
        return _over_corners([numbers[0], number(0)], UNARY[name])
    if name in BINARY and len(numbers) == 2:
        return _over_corners(numbers, BINARY[name])
    if name in ("greatest", "least") and numbers:
        return _over_all(numbers, max if name == "greatest" else min)
    return None


def _over_corners(numbers: Sequence[Sized], operation: Operation) -> Sized:
    """Returns the bounds of an operation that is monotonic in each argument, from the arguments' bounds."""
    left, right = ([operand.low, operand.high] for operand in numbers)
    corners = [_safely(operation, a, b) for a, b in product(left, right) if a is not None and b is not None]
    if len(corners) < 4 or any(isnan(corner) for corner in corners):
        return UNKNOWN
    return number(float(min(corners)), float(max(corners)))


def _over_all(numbers: Sequence[Sized], choose: Callable[[list[float]], float]) -> Sized:
    lows = [operand.low for operand in numbers if operand.low is not None]
    highs = [operand.high for operand in numbers if operand.high is not None]
    if len(highs) < len(numbers) or not numbers:
        return UNKNOWN
    return number(choose(lows), choose(highs))


def _safely(operation: Operation, left: float, right: float) -> float:
    try:
        return operation(left, right)
    except (OverflowError, ZeroDivisionError, ValueError):
        return inf


def _shift(left: float, right: float) -> float:
    return left * 2.0 ** (int(right) % 64) if isfinite(left) and isfinite(right) else inf


UNARY: Mapping[str, Operation] = MappingProxyType(
    {
        "negative": lambda a, _: -a,
        "unaryminus": lambda a, _: -a,
        "-": lambda a, _: -a,
        "positive": lambda a, _: a,
        "abs": lambda a, _: abs(a),
        "int": lambda a, _: a,
        "bigint": lambda a, _: a,
        "smallint": lambda a, _: a,
        "double": lambda a, _: a,
        "decimal": lambda a, _: a,
        "floor": lambda a, _: a,
        "ceil": lambda a, _: a + 1,
    }
)
BINARY: Mapping[str, Operation] = MappingProxyType(
    {
        "add": lambda a, b: a + b,
        "+": lambda a, b: a + b,
        "try_add": lambda a, b: a + b,
        "subtract": lambda a, b: a - b,
        "-": lambda a, b: a - b,
        "try_subtract": lambda a, b: a - b,
        "multiply": lambda a, b: a * b,
        "*": lambda a, b: a * b,
        "try_multiply": lambda a, b: a * b,
        "divide": lambda a, b: a / b,
        "/": lambda a, b: a / b,
        "div": lambda a, b: a / b,
        "integraldivide": lambda a, b: a / b,
        "pow": lambda a, b: a**b,
        "power": lambda a, b: a**b,
        "shiftleft": _shift,
        "<<": _shift,
    }
)
