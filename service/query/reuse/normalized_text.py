"""Writes texts that differ only in blanks and comments in one way."""

from __future__ import annotations

import re

# Quoted parts come first, so that blanks and signs of comments in them stay as they are. Hints stay, too.
_PARTS = re.compile(
    r"(?P<quoted>'[^']*'|\"[^\"]*\"|`[^`]*`)"
    r"|(?P<hint>/\*\+.*?\*/)"
    r"|(?P<blank>[ \t\r\n]+|--[^\r\n]*|/\*.*?\*/)"
    r"|(?P<open>'|\"|`|/\*)",
    re.DOTALL,
)


def normalized_text(sql: str) -> str:
    r"""Returns a text that Spark reads like this one: without comments, and with single spaces.

    A text with a backslash stays as it is, because that may escape a quote. So does one with a comment inside
    a comment, or with a quote that does not end. Words keep their case, as they may name columns.

    >>> normalized_text("SELECT  a, 'x  y'\n  FROM t -- all of it\n;")
    "SELECT a, 'x  y' FROM t"
    >>> normalized_text("SELECT 'it\\'s'  ;")
    "SELECT 'it\\'s'  ;"
    """
    if "\\" in sql:
        return sql
    written: list[str] = []
    place = 0
    for part in _PARTS.finditer(sql):
        if part["open"] is not None or (part["quoted"] is None and "/*" in part[0][2:]):
            return sql
        between = sql[place : part.start()]
        is_after_blank = not between and written[-1:] == [" "]
        written += [between] if between else []
        if part["blank"] is None:
            written.append(part[0])
        elif not is_after_blank:
            written.append(" ")
        place = part.end()
    return "".join((*written, sql[place:])).strip(" ;")
