"""How deep a text is nested: the parser's own stack ends the process where Python's would raise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, pairwise

from sqlglot import TokenType, tokenize
from sqlglot.errors import TokenError

MAX_NESTING = 200

_STEP = {
    TokenType.L_PAREN: 1,
    TokenType.L_BRACKET: 1,
    TokenType.R_PAREN: -1,
    TokenType.R_BRACKET: -1,
}
_CONTAINERS = {TokenType.ARRAY, TokenType.MAP, TokenType.STRUCT}


def is_shallow(sql: str, max_nesting: int = MAX_NESTING) -> bool:
    """Whether a tree can be made of the text without danger; also False when it has no tokens.

    Some thousands of `SELECT * FROM (` end the process, some thousands of `ARRAY<` take minutes.

    >>> is_shallow("SELECT ((1))"), is_shallow("SELECT " + "(" * 1_000)
    (True, False)
    """
    try:
        tokens = [each.token_type for each in tokenize(sql, read="spark")]
    except TokenError:
        return False
    containers = sum(pair[0] in _CONTAINERS and pair[1] is TokenType.LT for pair in pairwise(tokens))
    return max(containers, *_depths(tokens), 0) <= max_nesting


def _depths(tokens: list[TokenType]) -> Iterator[int]:
    return accumulate(_STEP.get(each, 0) for each in tokens)
