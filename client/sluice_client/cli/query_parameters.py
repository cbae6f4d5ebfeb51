"""The values of `--parameter name=value`."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sluice_client.cli.exits import WrongUsage

_JSON_VALUES = (str, int, Decimal, bool, type(None))


def query_parameters(texts: Sequence[str]) -> dict[str, Any]:
    """Returns the parameters by name.

    `name=value` is JSON if it is a JSON number, string, boolean or null, and text otherwise.
    `name:TYPE=value` is a value of this SQL type, written as text.

    >>> query_parameters(["year=2000", "state=TN", 'zip="01234"', "day:DATE=2000-01-01"])
    {'year': 2000, 'state': 'TN', 'zip': '01234', 'day': {'value': '2000-01-01', 'type': 'DATE'}}

    Raises:
        WrongUsage: a text has no name, or a name comes twice.
    """
    found: dict[str, Any] = {}
    for text in texts:
        left, equals, value = text.partition("=")
        name, colon, kind = left.partition(":")
        if not equals or not name.strip() or (colon and not kind.strip()):
            raise WrongUsage(f"--parameter is name=value or name:TYPE=value, not {text!r}")
        if name in found:
            raise WrongUsage(f"--parameter {name} is given twice")
        found[name] = {"value": value, "type": kind} if colon else _value(value)
    return found


def _value(text: str) -> Any:
    try:
        # A number with a fraction stays exact.
        value = json.loads(text, parse_float=Decimal, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, Decimal):
        return _number(value, text)
    return value if isinstance(value, _JSON_VALUES) else text


def _number(value: Decimal, text: str) -> Any:
    """Returns a decimal, or a double where the text has an exponent, as in SQL."""
    if "e" not in text.lower():
        return value
    double = float(text)
    return double if math.isfinite(double) else text


def _refuse(text: str) -> Any:
    raise ValueError(text)
