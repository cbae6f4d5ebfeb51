"""Do the comments of a text end where they seem to?"""

from __future__ import annotations

import re

_MARKS = re.compile(r"/\*\+|/\*|\*/")


def has_clear_comments(sql: str) -> bool:
    r"""Returns False if the engine takes more, or less, of the text for a comment than the parser does.

    To the engine, a backslash at the end of a line continues its comment, and `/*+` within a comment does not
    open another one. Marks within strings count as well, so some clear texts are taken for unclear ones.

    >>> texts = ["SELECT 1 -- a\\\n FROM t", "SELECT /* /*+ a */ 1", "/* a */ SELECT /*+ b */ '\\\n'"]
    >>> [has_clear_comments(text) for text in texts]
    [False, False, True]
    """
    if "\\\n" in sql and "--" in sql:
        return False
    depth = 0
    for mark in _MARKS.findall(sql):
        if mark == "*/":
            depth = max(depth - 1, 0)
        elif mark == "/*+" and depth:
            return False
        else:
            depth += 1
    return True
