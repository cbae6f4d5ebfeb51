"""Cuts a SQL text into its statements, as Spark's lexer reads quotes and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_NEXT = re.compile(
    r"""(?P<end>;)
      | (?P<line>--(?:\\\n|[^\r\n])*)
      | (?P<block>/\*)
      | (?P<raw>(?<![\w$])[rR](?P<q>['"]))
      | (?P<quote>['"])
      | (?P<name>`)
      | (?P<dollar>\$(?:[A-Za-z_]\w*)?\$)""",
    re.VERBOSE,
)
_COMMENT_PART = re.compile(r"/\*|\*/")
_CLOSING = {
    "'": re.compile(r"(?:[^'\\]|\\.)*'", re.DOTALL),
    '"': re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL),
}


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement without its semicolon, and the line of the text where it begins, from 1."""

    sql: str
    first_line: int
    is_complete: bool
    """Whether a semicolon ends it."""


def statements_of(text: str) -> list[Statement]:
    r"""Returns the statements. Empty ones, and comments alone, are left out.

    >>> [statement.sql for statement in statements_of("SELECT ';'; -- one;\n SELECT 2")]
    ["SELECT ';'", '-- one;\n SELECT 2']
    """
    return list(_statements(text))


def _statements(text: str) -> Iterator[Statement]:
    start = position = line = counted = 0
    is_empty = True
    while position < len(text):
        found = _NEXT.search(text, position)
        until = len(text) if found is None else found.start()
        is_empty = is_empty and not text[position:until].strip()
        if found is None:
            break
        if found.lastgroup == "end":
            line, counted = line + text.count("\n", counted, start), start
            if not is_empty:
                yield _statement(text, start, found.start(), line, is_complete=True)
            start, is_empty = found.end(), True
        elif found.lastgroup not in ("line", "block"):
            is_empty = False
        position = _after(text, found)
    if not is_empty:
        yield _statement(text, start, len(text), line + text.count("\n", counted, start), is_complete=False)


def _statement(text: str, start: int, end: int, lines_before: int, *, is_complete: bool) -> Statement:
    sql = text[start:end]
    leading = len(sql) - len(sql.lstrip())
    return Statement(sql.strip(), lines_before + sql.count("\n", 0, leading) + 1, is_complete)


def _after(text: str, found: re.Match[str]) -> int:
    """Returns the position after a semicolon, comment or quote; one without an end has the text's."""
    position = found.end()
    if found["block"]:
        return _after_comment(text, position)
    if found["quote"]:
        closing = _CLOSING[found["quote"]].match(text, position)
        return len(text) if closing is None else closing.end()
    mark = found["q"] or found["name"] or found["dollar"]
    if not mark:
        return position
    end = text.find(mark, position)
    return len(text) if end < 0 else end + len(mark)


def _after_comment(text: str, position: int) -> int:
    depth = 1
    for part in _COMMENT_PART.finditer(text, position):
        depth += 1 if part[0] == "/*" else -1
        if depth == 0:
            return part.end()
    return len(text)


def is_finished(text: str) -> bool:
    r"""Whether Enter ends the input: a command, nothing, or statements whose last has its semicolon.

    >>> is_finished("SELECT 1"), is_finished("SELECT ';'"), is_finished("SELECT 1;"), is_finished("\\q")
    (False, False, True, True)
    """
    if not text.strip() or text.lstrip().startswith("\\"):
        return True
    found = statements_of(text)
    return bool(found) and found[-1].is_complete
