"""How deep a text is nested: the parser's own stack ends the process where Python's would raise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from sqlglot import TokenType
from sqlglot.tokenizer_core import Token

MAX_NESTING = 200
# Of TPC-DS, the text with the most has 481.
MAX_OPERATORS = 2_000
MAX_TOKENS = 50_000

_STEP = {
    TokenType.L_PAREN: 1,
    TokenType.L_BRACKET: 1,
    TokenType.R_PAREN: -1,
    TokenType.R_BRACKET: -1,
}
_CONTAINERS = {TokenType.ARRAY, TokenType.MAP, TokenType.STRUCT}
# These are no operators: long lists are flat trees.
_LISTED = {
    TokenType.COMMA,
    TokenType.DOT,
    TokenType.IDENTIFIER,
    TokenType.L_PAREN,
    TokenType.NUMBER,
    TokenType.R_PAREN,
    TokenType.STRING,
    TokenType.VAR,
}


def is_shallow(
    tokens: Sequence[Token], max_nesting: int = MAX_NESTING, max_operators: int = MAX_OPERATORS
) -> bool:
    """Whether a tree can be made of the text with these tokens without danger.

    Some thousands of `SELECT * FROM (` or of `FROM` end the process, some thousands of `ARRAY<` take
    minutes. A chain of operators is as deep as it is long: with some thousands of `OR`, the qualifier holds
    up every other thread for seconds.

    >>> from sqlglot import tokenize
    >>> is_shallow(tokenize("SELECT ((1))")), is_shallow(tokenize("SELECT " + "(" * 1_000))
    (True, False)
    >>> is_shallow(tokenize("SELECT 1" + ", 1" * 9_000)), is_shallow(tokenize("SELECT 1" + " + 1" * 9_000))
    (True, False)
    """
    kinds = [each.token_type for each in tokens]
    containers = sum(pair[0] in _CONTAINERS and pair[1] is TokenType.LT for pair in pairwise(kinds))
    if len(kinds) > MAX_TOKENS or sum(each not in _LISTED for each in kinds) > max_operators:
        return False
    return max(containers, *_depths(kinds), 0) <= max_nesting


def _depths(tokens: list[TokenType]) -> Iterator[int]:
    return accumulate(_STEP.get(each, 0) for each in tokens)
