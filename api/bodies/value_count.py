"""How many values a JSON text has, before it is parsed: each of them is looked at while all others wait."""

from __future__ import annotations

import re

MAX_VALUES = 20_000
"""In a body that has no records. SQL texts and single values may be long; names and parameters are few."""

# Possessive, and one that does not end is one up to the end: the time is linear in the text, whatever it is.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_BEGINNINGS = ",[{"


class TooManyValues(ValueError):
    """The text has more values than a request may have."""


def check_value_count(text: str, at_most: int = MAX_VALUES) -> None:
    """Lets a text pass that has no more values than that, at any depth; counts as a parser would.

    Raises:
        TooManyValues: it has more.

    >>> check_value_count('{"sql": "a, b, [c]", "parameters": [1, 2]}', at_most=5)
    >>> check_value_count("[1, 2, 3]", at_most=3)
    Traceback (most recent call last):
    api.bodies.value_count.TooManyValues: it has more than 3 values
    """
    if sum(map(text.count, _BEGINNINGS)) < at_most:
        return
    outside = _STRING.sub("", text)
    if sum(map(outside.count, _BEGINNINGS)) >= at_most:
        raise TooManyValues(f"it has more than {at_most} values")
