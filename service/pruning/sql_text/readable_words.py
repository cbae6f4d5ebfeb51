"""Replaces words of the engine's grammar that the parser does not know by synonyms, at the same length."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError

_SAME: Mapping[str, str] = {"SYSTEM_VERSION": "VERSION", "SYSTEM_TIME": "TIMESTAMP"}
_LITERALS = {TokenType.NUMBER, TokenType.STRING}


def readable_words(sql: str) -> str:
    """Returns the text with `VERSION` for `SYSTEM_VERSION` and `TIMESTAMP` for `SYSTEM_TIME` before `AS OF`.

    Blanks fill the rest of the word, so that everything stays in its place. A column of such a name, to which
    `AS` gives the alias `OF`, has no literal after that.

    >>> readable_words("SELECT 1 FROM t SYSTEM_VERSION AS OF 7")
    'SELECT 1 FROM t VERSION        AS OF 7'
    >>> readable_words("SELECT system_version AS of, 'SYSTEM_VERSION AS OF 7' FROM t")
    "SELECT system_version AS of, 'SYSTEM_VERSION AS OF 7' FROM t"
    """
    if "system_" not in sql.casefold():
        return sql
    try:
        tokens = list(Spark().tokenize(sql))
    except TokenError:
        return sql
    text = sql
    for word, is_as, is_of, literal in zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False):
        same = _SAME.get(word.text.upper()) if word.token_type is TokenType.VAR else None
        follows = (is_as.text.upper(), is_of.text.upper()) == ("AS", "OF")
        if same is not None and follows and literal.token_type in _LITERALS:
            text = text[: word.start] + same.ljust(len(word.text)) + text[word.end + 1 :]
    return text
