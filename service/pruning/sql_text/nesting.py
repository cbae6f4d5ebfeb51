"""How deep a text is nested, and how long its chains are, from single passes over its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise

from sqlglot import TokenType
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token

MAX_NESTING = 200
# The TPC-DS query with the most has 481.
MAX_OPERATORS = 2_000
MAX_TOKENS = 50_000
# `a().b()[1]::INT`: the parser begins again at each link, so its time grows with the square of their number.
MAX_LINKS = 100
# The parser tries `DECIMAL(…` as a type and as a call, and a join with the next ones inside of it and
# outside: each of these doubles its work.
MAX_TYPE_CALLS = 6
MAX_OPEN_JOINS = 6

_STEP = {
    TokenType.L_PAREN: 1,
    TokenType.L_BRACKET: 1,
    TokenType.L_BRACE: 1,
    TokenType.CASE: 1,
    TokenType.R_PAREN: -1,
    TokenType.R_BRACKET: -1,
    TokenType.R_BRACE: -1,
    TokenType.END: -1,
}
_CONTAINERS = {TokenType.ARRAY, TokenType.MAP, TokenType.STRUCT}
_IN_TYPES = Parser.TYPE_TOKENS | {
    TokenType.COLON,
    TokenType.COMMA,
    TokenType.COMMENT,
    TokenType.GT,
    TokenType.IDENTIFIER,
    TokenType.LT,
    TokenType.L_PAREN,
    TokenType.NOT,
    TokenType.NULL,
    TokenType.NUMBER,
    TokenType.R_PAREN,
    TokenType.STRING,
    TokenType.VAR,
}
_CLOSED = {TokenType.R_PAREN, TokenType.R_BRACKET}
_NAMES = {TokenType.IDENTIFIER, TokenType.STRING, TokenType.VAR}
_LINKS = {TokenType.DOT, TokenType.L_PAREN, TokenType.L_BRACKET}
_CONDITIONS = {TokenType.ON, TokenType.USING}
_WITHOUT_CONDITION = {TokenType.CROSS, TokenType.NATURAL}
# These are not operators: long lists are flat trees.
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
_MARKS = re.compile(r"/\*|\*/")
# Catalog, schema, table, column, and fields within it.
_DOTS_OF_A_NAME = 8


def is_shallow(
    tokens: Sequence[Token], max_nesting: int = MAX_NESTING, max_operators: int = MAX_OPERATORS
) -> bool:
    """Whether a text with these tokens can be parsed, and its tree searched, without harm.

    Some thousands of `SELECT * FROM (` or of `FROM` end the process that parses them. A chain of operators,
    calls or dots is as deep as it is long. This bounds what is known to be slow; a deadline bounds the rest.

    >>> from sqlglot import tokenize
    >>> is_shallow(tokenize("SELECT ((1))")), is_shallow(tokenize("SELECT " + "(" * 1_000))
    (True, False)
    >>> is_shallow(tokenize("SELECT 1" + ", 1" * 9_000)), is_shallow(tokenize("SELECT 1" + " + 1" * 9_000))
    (True, False)
    >>> [is_shallow(tokenize(f"SELECT a(){'.a()' * count} FROM t")) for count in (5, 2_000)]
    [True, False]
    """
    kinds = [token.token_type for token in tokens]
    if len(kinds) > MAX_TOKENS or sum(kind not in _LISTED for kind in kinds) > max_operators:
        return False
    return (
        nesting_of(tokens) <= max_nesting
        and type_nesting_of(tokens) <= max_nesting
        and _links(kinds) <= MAX_LINKS
        and _type_calls(kinds) <= MAX_TYPE_CALLS
        and _open_joins(kinds) <= MAX_OPEN_JOINS
    )


def nesting_of(tokens: Sequence[Token]) -> int:
    """Returns how many parentheses, brackets, braces and CASEs are open at once, at most.

    >>> from sqlglot import tokenize
    >>> nesting_of(tokenize("SELECT f(a[1]), CASE WHEN (b) THEN 1 END"))
    2
    """
    return max(accumulate(_STEP.get(token.token_type, 0) for token in tokens), default=0)


def type_nesting_of(tokens: Sequence[Token]) -> int:
    """Returns how many types with types in them are open at once, at most; a column `map` does not count.

    >>> from sqlglot import tokenize
    >>> text = "SELECT CAST(a AS ARRAY<MAP<INT, ARRAY<INT>>>), CAST(b AS ARRAY<INT>) FROM t WHERE t.map < 1"
    >>> type_nesting_of(tokenize(text, read="spark"))
    3
    """
    most = depth = 0
    for before, token_type in pairwise(token.token_type for token in tokens):
        if token_type not in _IN_TYPES:
            depth = 0
        elif token_type is TokenType.LT and before in _CONTAINERS:
            depth += 1
            most = max(most, depth)
        elif token_type is TokenType.GT:
            depth = max(depth - 1, 0)
    return most


def comment_nesting_of(sql: str, tokens: Sequence[Token]) -> int:
    """Returns how many comments are open at once, at most; marks in strings and names do not count.

    >>> from sqlglot import tokenize
    >>> sql = "SELECT /* a /* b */ */ '/*' /* c */"
    >>> comment_nesting_of(sql, tokenize(sql, read="spark"))
    2
    """
    return max((open_comments(gap) for gap in _gaps(sql, tokens)), default=0)


def open_comments(text: str) -> int:
    """Returns how many comments are open at once in a text without strings and quoted names, at most."""
    most = depth = 0
    for mark in _MARKS.findall(text):
        depth = depth + 1 if mark == "/*" else max(depth - 1, 0)
        most = max(most, depth)
    return most


def _gaps(sql: str, tokens: Iterable[Token]) -> Iterator[str]:
    end = 0
    for token in tokens:
        if token.start > end:
            yield sql[end : token.start]
        end = max(end, token.end + 1)
    yield sql[end:]


def _links(kinds: Sequence[TokenType]) -> int:
    """Counts continuations of calls, indexes and casts, and the dots in names with too many parts."""
    links = dots = 0
    for before, token_type in pairwise(kinds):
        is_behind_another = token_type in _LINKS and before in _CLOSED
        if is_behind_another or token_type is TokenType.DCOLON or _is_path(before, token_type):
            links += 1
        elif token_type is TokenType.DOT:
            dots += 1
            links += dots > _DOTS_OF_A_NAME
        elif before is not TokenType.DOT:
            dots = 0
    return links


def _is_path(before: TokenType, token_type: TokenType) -> bool:
    """Whether the token is the colon of `a:b.c`, and not that of a parameter."""
    return token_type is TokenType.COLON and (before in _CLOSED or before in _NAMES)


def _type_calls(kinds: Sequence[TokenType]) -> int:
    most = depth = 0
    parentheses: list[bool] = []
    for before, token_type in pairwise(kinds):
        if token_type is TokenType.L_PAREN:
            parentheses.append(before in Parser.TYPE_TOKENS)
            depth += parentheses[-1]
            most = max(most, depth)
        elif token_type is TokenType.R_PAREN and parentheses:
            depth -= parentheses.pop()
    return most


def _open_joins(kinds: Sequence[TokenType]) -> int:
    """Returns how many joins in a row, at most, have their condition still to come, or have none."""
    most = joins = 0
    for before, token_type in pairwise(kinds):
        if token_type is TokenType.JOIN and before not in _WITHOUT_CONDITION:
            joins += 1
            most = max(most, joins)
        elif token_type in _CONDITIONS:
            joins = max(joins - 1, 0)
    return most
