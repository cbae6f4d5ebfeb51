"""Is this one statement, of a size that the gateway takes? Which kind it is, the engine's parser decides."""

from __future__ import annotations

from sqlglot import TokenError, TokenType, tokenize

from service.errors import SqlEmpty, SqlManyStatements, SqlTooLarge


def vet(sql: str, max_bytes: int) -> None:
    """Returns when the text holds exactly one statement within the bound.

    A text that cannot be cut into tokens passes: the engine says better what is wrong with it.

    >>> vet("SELECT 1; -- done", max_bytes=100)
    >>> vet("SELECT ';'; SELECT 2", max_bytes=100)
    Traceback (most recent call last):
    service.errors.SqlManyStatements: The SQL text has more than one statement. Send them one by one.

    Raises:
        SqlEmpty: there is nothing but blanks and comments.
        SqlManyStatements: there is more than one.
        SqlTooLarge: the text is larger than the bound.
    """
    size = len(sql.encode())
    if size > max_bytes:
        raise SqlTooLarge(f"The SQL text has {size} bytes; this gateway accepts {max_bytes}.")
    if not sql.strip(" \t\r\n;"):
        raise SqlEmpty
    try:
        tokens = tokenize(sql, read="spark")
    except TokenError:
        return
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
