"""Counts the values of a JSON text before it is parsed: the work on each value delays other requests."""

from __future__ import annotations

import re

MAX_VALUES = 20_000
"""For a body without records. SQL texts and single values may be long, but names and parameters are few."""
MAX_FIELDS = 50_000
"""Beside the records of a body. Write schemas have a name for each column."""

# Possessive, and an unclosed string extends to the end of the text: so the time is linear in any text.
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_BEGINNINGS = ",[{"


class TooManyValues(ValueError):
    """The text has more values than a request may have."""


def check_value_count(text: str, at_most: int = MAX_VALUES) -> None:
    """Checks that a text has no more values than that, at any depth. It counts as a parser would.

    Raises:
        TooManyValues: it has more.

    >>> check_value_count('{"sql": "a, b, [c]", "parameters": [1, 2]}', at_most=5)
    >>> check_value_count("[1, 2, 3]", at_most=3)
    Traceback (most recent call last):
    api.http.bodies.value_count.TooManyValues: it has more than 3 values
    """
    if sum(map(text.count, _BEGINNINGS)) < at_most:
        return
    outside = _STRING.sub("", text)
    if sum(map(outside.count, _BEGINNINGS)) >= at_most:
        raise TooManyValues(f"it has more than {at_most} values")


def check_fields(value: object, apart: str = "records", at_most: int = MAX_FIELDS) -> None:
    """Checks the same in a parsed body, without the values of fields named `apart`.

    Raises:
        TooManyValues: there are more.

    >>> check_fields({"table": "a", "records": [1, 2, 3, 4]}, at_most=2)
    >>> check_fields({"writes": [{"table": "a", "b": []}]}, at_most=2)
    Traceback (most recent call last):
    api.http.bodies.value_count.TooManyValues: it has more than 2 values beside its records
    """
    count, open_values = 0, [value]
    while open_values:
        found = open_values.pop()
        if not isinstance(found, dict | list):
            continue
        count += len(found)
        if count > at_most:
            raise TooManyValues(f"it has more than {at_most} values beside its {apart}")
        named = found.items() if isinstance(found, dict) else ((None, item) for item in found)
        open_values += [item for name, item in named if name != apart]
