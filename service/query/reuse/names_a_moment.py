"""Finds texts whose literals may be a moment, such as `DATE'today'`."""

from __future__ import annotations

import re

_MOMENTS = re.compile(r"\b(?:now|today|tomorrow|yesterday)\b", re.IGNORECASE)
_TIMES = re.compile(r"\b(?:date|timestamp|time)", re.IGNORECASE)
_OF_TIMES = re.compile("date|time", re.IGNORECASE)
_CLOCKS = re.compile(r"[\"']\s*T?[0-9]{1,2}:", re.IGNORECASE)


def names_a_moment(text: str) -> bool:
    r"""Whether the engine may read a word of this text as the moment of the query.

    Its parser and its optimizer replace such words, and no trace is left in the analyzed plan. An escaped
    word cannot be seen, so a text with a backslash and a type of time counts too. So does one with a time of
    day: the engine takes `TIMESTAMP'10:00'` for a moment of today.

    >>> names_a_moment("SELECT DATE ' Today'"), names_a_moment("SELECT known FROM t")
    (True, False)
    >>> names_a_moment(r"SELECT TIMESTAMP '\u006eow'"), names_a_moment(r"SELECT '\n'")
    (True, False)
    >>> names_a_moment("SELECT TIMESTAMP'10:00'"), names_a_moment("SELECT TIMESTAMP'2026-01-31 10:00'")
    (True, False)
    """
    if _MOMENTS.search(text) or ("\\" in text and _TIMES.search(text)):
        return True
    return bool(_CLOCKS.search(text)) and bool(_OF_TIMES.search(text))
