"""Which `?` of a text is which parameter?"""

from __future__ import annotations

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.errors import SqlglotError

from service.model.query.query import positional_name
from service.model.tables.sql import ParsedQuery
from service.pruning.sql_text.readable_words import readable_words


def number_placeholders(parsed: ParsedQuery) -> exp.Query:
    """Returns the tree with a name for each `?`, by its place in the text.

    The tree does not have these places, so the text is parsed again with names in it. The names are used only
    if the result is the same tree.

    >>> from service.pruning.sql_text.parse import parse
    >>> number_placeholders(parse("SELECT ? FROM t WHERE t.a = ? AND t.b IN (?, '?')")).sql("spark")
    "SELECT :positional_1 FROM t WHERE t.a = :positional_2 AND t.b IN (:positional_3, '?')"
    """
    if not any(not placeholder.args.get("this") for placeholder in parsed.tree.find_all(exp.Placeholder)):
        return parsed.tree
    named = _with_names(parsed.sql)
    if named is None:
        return parsed.tree
    numbered = parsed.tree.copy()
    pairs = list(zip(numbered.find_all(exp.Placeholder), named.find_all(exp.Placeholder), strict=False))
    for nameless, with_name in pairs:
        if not nameless.args.get("this"):
            nameless.set("this", with_name.this)
    # The same tree came out of another text, so each name is in its place.
    return numbered if numbered == named else parsed.tree


def _with_names(sql: str) -> exp.Expr | None:
    pieces: list[str] = []
    end = 0
    try:
        tokens = [
            token
            for token in sqlglot.tokenize(sql, read="spark")
            if token.token_type is TokenType.PLACEHOLDER
        ]
        for number, token in enumerate(tokens, start=1):
            if sql[token.start] != "?":
                return None
            pieces += [sql[end : token.start], f":{positional_name(number)}"]
            end = token.start + 1
        return sqlglot.parse_one(readable_words("".join([*pieces, sql[end:]])), read="spark")
    except (SqlglotError, RecursionError):
        return None
