"""Checks for one statement of an acceptable size. The engine's parser decides which kind it is."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import TokenError, TokenType, tokenize
from sqlglot.tokenizer_core import Token

from service.errors.statement_errors import SqlEmpty, SqlManyStatements, SqlTooDeep, SqlTooLarge
from service.pruning.sql_text.nesting import (
    MAX_NESTING,
    comment_nesting_of,
    nesting_of,
    open_comments,
    type_nesting_of,
)

# From a hundred nested types or comments on, the engine's parser takes seconds.
MAX_TYPES = 32
MAX_COMMENTS = 16


def validate(sql: str, max_bytes: int, max_nesting: int = MAX_NESTING) -> None:
    """Checks that the text holds exactly one statement within the bounds.

    A text that cannot be tokenized passes, unless it is full of unclosed comments: the engine reports better
    what is wrong with it.

    >>> validate("SELECT 1; -- done", max_bytes=100)
    >>> validate("SELECT ';'; SELECT 2", max_bytes=100)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    service.errors.statement_errors.SqlManyStatements: The SQL text has more than one statement....

    Raises:
        SqlEmpty: the text has nothing but blanks and comments.
        SqlManyStatements: the text has more than one statement.
        SqlTooLarge: the text is larger than the bound.
        SqlTooDeep: the text is nested more deeply than the engine's parser can take in a reasonable time.
    """
    size = len(sql.encode())
    if size > max_bytes:
        raise SqlTooLarge(f"The SQL text has {size} bytes; this gateway accepts {max_bytes}.")
    if not sql.strip(" \t\r\n;"):
        raise SqlEmpty
    try:
        tokens = tokenize(sql, read="spark")
    except TokenError:
        _check("comments", open_comments(sql), MAX_COMMENTS)
        return
    _check("parentheses, brackets and CASEs", nesting_of(tokens), max_nesting)
    _check("types", type_nesting_of(tokens), MAX_TYPES)
    _check("comments", comment_nesting_of(sql, tokens), MAX_COMMENTS)
    _check_count(tokens)


def _check(what: str, found: int, most: int) -> None:
    if found > most:
        raise SqlTooDeep(f"The SQL text has {found} {what} within one another; this gateway accepts {most}.")


def _check_count(tokens: Sequence[Token]) -> None:
    statements = 0
    is_inside = False
    for token in tokens:
        is_semicolon = token.token_type is TokenType.SEMICOLON
        statements += not is_semicolon and not is_inside
        is_inside = not is_semicolon
    if statements == 0:
        raise SqlEmpty
    if statements > 1:
        raise SqlManyStatements
