"""Recognizes the few statements that are answered in another way here, also behind comments."""

from __future__ import annotations

import re

_SPACE = r"(?:\s|--[^\r\n]*(?:[\r\n]|$)|/\*(?!\+).*?\*/)"
_FLAGS = re.IGNORECASE | re.DOTALL
_USE_DEFAULT = re.compile(
    rf"{_SPACE}*+USE{_SPACE}++(?:(?:SCHEMA|DATABASE|NAMESPACE){_SPACE}++)?`?default`?{_SPACE}*+;?{_SPACE}*+",
    _FLAGS,
)
_SHOW_TABLES = re.compile(rf"{_SPACE}*+SHOW{_SPACE}++TABLES\b", _FLAGS)


def is_use_default(sql: str) -> bool:
    """Whether the text is `USE default`, with which clients of Hive begin.

    >>> [is_use_default(sql) for sql in ("use `default`", "/* a */ USE DATABASE default;", "use defaults")]
    [True, True, False]
    """
    return _USE_DEFAULT.fullmatch(sql) is not None


def is_show_tables(sql: str) -> bool:
    r"""Whether the text is SHOW TABLES.

    >>> is_show_tables("-- all\nshow tables in shop"), is_show_tables("SHOW TABLE EXTENDED LIKE 'a'")
    (True, False)
    """
    return _SHOW_TABLES.match(sql) is not None
