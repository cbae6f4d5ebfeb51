"""Where does the query of a statement begin that writes what the query returns?"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from service.pruning.sql_text.has_clear_comments import has_clear_comments

_SPARK = Spark()
_QUERY = frozenset({TokenType.SELECT, TokenType.WITH})
_BOUND = frozenset({TokenType.PLACEHOLDER, TokenType.PARAMETER})


def written_query(sql: str) -> int | None:
    """Returns where the query of an INSERT, or of a CREATE or REPLACE TABLE … AS, begins.

    None for other statements, and where it is not clear: all that follows must be the query, which begins
    with SELECT or WITH outside of parentheses, and nothing before it has a parameter.

    >>> texts = ["INSERT INTO t (a) SELECT 1", "CREATE TABLE t AS SELECT 1", "INSERT INTO t VALUES (1)"]
    >>> [None if (at := written_query(sql)) is None else sql[at:] for sql in texts]
    ['SELECT 1', 'SELECT 1', None]
    >>> written_query("WITH c AS (SELECT 1) INSERT INTO t SELECT * FROM c") is None
    True
    """
    if not has_clear_comments(sql):
        return None
    try:
        tokens = list(_SPARK.tokenize(sql))
    except SqlglotError:
        return None
    words = [token.text.upper() for token in tokens]
    at = _begins(tokens)
    if not tokens or at is None or any(token.token_type in _BOUND for token in tokens[:at]):
        return None
    is_insert = (
        words[0] == "INSERT" and words[1:2] in (["INTO"], ["OVERWRITE"]) and "REPLACE" not in words[:at]
    )
    is_table = words[0] in ("CREATE", "REPLACE") and "TABLE" in words[:4] and words[at - 1] == "AS"
    return tokens[at].start if is_insert or is_table else None


def _begins(tokens: Sequence[Token]) -> int | None:
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and token.token_type in _QUERY:
            return at
    return None
