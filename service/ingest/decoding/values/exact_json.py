"""Reads JSON with exactly the numbers and names that it spells."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from typing import NoReturn
from uuid import uuid4

# A number of this length without an exponent has at most 15 digits, which a double preserves.
_SURELY_EXACT = 16
_EXPONENT = frozenset("eE")
# Python reads a number in time quadratic in its digits, and rejects more than 4,300.
MAX_DIGITS = 4_000


class NumberTooLong(ValueError):
    """A number in valid JSON that no column type can hold."""


def exact_json(text: str) -> object:
    """Returns the value of the text; numbers with a fraction are as `exact_number` returns them.

    Raises:
        ValueError: it is not JSON (`json.JSONDecodeError` with the place), has a name twice in one object, a
            bare NaN, or a number that is too long.
        RecursionError: it is nested too deeply.

    >>> exact_json('{"a": [1.5, 0.10000000000000000001]}')
    {'a': [1.5, Decimal('0.10000000000000000001')]}
    >>> exact_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the name 'a' stands twice in one object
    """
    return _DECODER.decode(text)


def exact_number(text: str) -> float | Decimal:
    """Returns a float if it has the same digits, else a Decimal.

    Raises:
        ValueError: its exponent is out of range for any number.

    >>> exact_number("0.10"), exact_number("1e400")
    (0.1, Decimal('1E+400'))
    """
    number = float(text)
    if len(text) <= _SURELY_EXACT and _EXPONENT.isdisjoint(text):
        return number
    try:
        exact = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"the number {text:.40} is out of all ranges") from None
    return number if Decimal(repr(number)) == exact else exact


def exact_integer(text: str) -> int:
    """Returns the whole number that the text spells.

    Raises:
        NumberTooLong: it has more than `MAX_DIGITS` digits.

    >>> exact_integer("-12")
    -12
    """
    digit_count = len(text.lstrip("-"))
    if digit_count > MAX_DIGITS:
        raise NumberTooLong(f"a number has {digit_count} digits, and {MAX_DIGITS} at most are read")
    return int(text)


def strict_json(text: str) -> object:
    """Returns the value of the text, with floats only; names must not repeat within an object.

    Raises:
        ValueError: as `exact_json`; `NumberTooLong` also where a float would be infinite.
        RecursionError: it is nested too deeply.

    >>> strict_json('{"a": [1.5, 2]}')
    {'a': [1.5, 2]}
    """
    return _STRICT_DECODER.decode(text)


def json_text(value: object) -> str:
    """Returns a value of `exact_json` as JSON in ASCII; numbers keep all of their digits.

    >>> json_text({"a": Decimal("1.00000000000000000001"), "b": 0.1})
    '{"a": 1.00000000000000000001, "b": 0.1}'
    """
    numbers: list[str] = []
    # Python's encoder cannot write Decimals: they are inserted afterwards, at marks that no text contains.
    mark = uuid4().hex

    def marked(number: object) -> str:
        numbers.append(str(number))
        return f"{mark}{len(numbers) - 1}"

    text = json.dumps(value, default=marked)
    return re.sub(f'"{mark}([0-9]+)"', lambda found: numbers[int(found[1])], text) if numbers else text


def _named_once(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        [(name, _), *_] = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"the name {name!r:.100} stands twice in one object")
    return found


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} has to stand in quotes")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise NumberTooLong(f"the number {text:.40} is out of all ranges")
    return number


def _decoder(parse_float: Callable[[str], object]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=_named_once,
        parse_float=parse_float,
        parse_int=exact_integer,
        parse_constant=_refused,
    )


_DECODER = _decoder(exact_number)
_STRICT_DECODER = _decoder(_finite)
