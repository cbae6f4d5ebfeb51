r"""Patterns of JDBC and ODBC: `%` is any text, `_` one character, and `\` takes the next one as it is."""

from __future__ import annotations

import re

MAX_PATTERN = 1_024
ANY = "%"


def like(pattern: str | None) -> re.Pattern[str]:
    r"""Returns the expression that matches whole names, in any case. None and an empty pattern match all.

    Some clients write `*` or `.*` for any text.

    >>> [bool(like(pattern).fullmatch("store_sales")) for pattern in ("store%", "STORE\\_SALES", "s_s", None)]
    [True, True, False, True]
    >>> bool(like("a\\%").fullmatch("ab")), bool(like("a.c").fullmatch("abc"))
    (False, False)
    """
    segments: list[list[str]] = [[]]
    for part in re.findall(r"\\.|\.\*|.", (pattern or ANY)[:MAX_PATTERN], re.DOTALL):
        if part in ("%", "*", ".*"):
            segments.append([])
        else:
            segments[-1].append(_part(part))
    first, *others = ("".join(segment) for segment in segments)
    if not others:
        return re.compile(first, re.IGNORECASE | re.DOTALL)
    # A segment is taken where it comes first, for good: with backtracking, many `%` would take ages.
    middle = "".join(f"(?>.*?{segment})" for segment in others[:-1] if segment)
    return re.compile(f"{first}{middle}.*{others[-1]}", re.IGNORECASE | re.DOTALL)


def exact(name: str) -> str:
    r"""Returns the pattern that matches this name alone.

    >>> exact("a_b%"), bool(like(exact("a.*_")).fullmatch("abcd"))
    ('a\\_b\\%', False)
    """
    return re.sub(r"[%_*\\]", r"\\\g<0>", name)


def plain_name(pattern: str | None) -> str | None:
    r"""Returns the one name that a pattern can match. None: it may match several.

    >>> plain_name("sales"), plain_name("store\\_sales"), plain_name("store_sales"), plain_name(None)
    ('sales', 'store_sales', None, None)
    """
    if not pattern or re.search(r"(?<!\\)(?:\\\\)*[%_*]", pattern):
        return None
    return re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL)


def _part(part: str) -> str:
    if part == "_":
        return "."
    return re.escape(part[1:] if len(part) == 2 else part)
