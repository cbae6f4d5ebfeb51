"""Durations as callers write them: a whole number and its unit."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

_MS_PER = {"ms": 1, "s": 1000, "m": 60_000}
_PATTERN = r"[0-9]{1,9}(ms|s|m)"


def parse_duration(text: object) -> int:
    """Returns the duration in milliseconds.

    >>> parse_duration("10s"), parse_duration("500ms")
    (10000, 500)

    Raises:
        ValueError: it is not a whole number followed by ms, s or m.
    """
    if not isinstance(text, str) or not re.fullmatch(_PATTERN, text, re.ASCII):
        raise ValueError('a duration is a string of a whole number and ms, s or m, such as "10s" or "500ms"')
    digits = text.rstrip("ms")
    return int(digits) * _MS_PER[text[len(digits) :]]


def _wait(text: object) -> int:
    wait_ms = parse_duration(text)
    if wait_ms > MAX_WAIT_MS:
        raise ValueError("waitTimeout is 50s at most; poll again for more")
    return wait_ms


MAX_WAIT_MS = 50_000
DurationMs = Annotated[
    int,
    BeforeValidator(parse_duration),
    WithJsonSchema({"type": "string", "pattern": r"^[1-9][0-9]{0,8}(ms|s|m)$", "examples": ["300s"]}),
]
WaitMs = Annotated[
    int,
    BeforeValidator(_wait),
    WithJsonSchema(
        {"type": "string", "pattern": r"^([0-9]|[1-4][0-9]|50)s$|^[0-9]{1,4}ms$", "examples": ["10s"]}
    ),
]
