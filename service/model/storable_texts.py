"""Checks that catalogs and stores can keep a JSON value."""

from __future__ import annotations

import math
from collections.abc import Iterator

Steps = tuple[str | int, ...]
"""The names and indexes that lead to a place in JSON."""


def text_fault(text: str) -> str | None:
    """Returns why PostgreSQL or a JSON file could not store this text; None when both can.

    A lone surrogate and NUL are such texts: JSON can spell both.

    >>> text_fault("a" + chr(0xD800))
    'has half of a character (a surrogate without its pair)'
    """
    if "\0" in text:
        return "has a NUL character"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return "has half of a character (a surrogate without its pair)"
    return None


def faulty_texts(json: object) -> Iterator[tuple[Steps, str]]:
    """Yields each value and name in parsed JSON that cannot be stored, and each non-number, with its place.

    >>> list(faulty_texts({"a": ["b", chr(0)], "c": float("inf")}))
    [(('c',), 'is a number that JSON does not have'), (('a', 1), 'has a NUL character')]
    """
    # No recursion: the sender decides how deep the JSON is nested.
    waiting: list[tuple[Steps, object]] = [((), json)]
    while waiting:
        place, value = waiting.pop()
        match value:
            case str() if fault := text_fault(value):
                yield place, fault
            case dict():
                for name, item in value.items():
                    if fault := text_fault(name):
                        yield (*place, name), f"its name {fault}"
                    waiting.append(((*place, name), item))
            case float() if not math.isfinite(value):
                yield place, "is a number that JSON does not have"
            case list() | tuple():
                waiting.extend(((*place, index), item) for index, item in enumerate(value))
            case _:
                pass
