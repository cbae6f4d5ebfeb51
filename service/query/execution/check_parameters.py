"""Checks that every sent value has a placeholder in the text, and every placeholder a value."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from sqlglot import TokenError, TokenType, tokenize

from service.errors.statement_errors import ParameterMissing, ParameterUnused
from service.model.query.query import Parameters

# `?::INT` begins with a token type of its own.
_POSITIONAL = (TokenType.PLACEHOLDER, TokenType.QDCOLON)


def check_parameters(sql: str, parameters: Parameters) -> None:
    """Checks that values and placeholders match.

    Named placeholders are counted generously (`a:b` may be a path into a variant): the engine reports those
    that are really missing.

    >>> from service.model.query.query import Parameter
    >>> check_parameters("SELECT :year", {"year": Parameter(2000)})
    >>> check_parameters("SELECT ':year'", {"year": Parameter(2000)})
    Traceback (most recent call last):
    service.errors.statement_errors.ParameterUnused: The SQL text has no parameter :year. Remove its value.

    Raises:
        ParameterUnused: a value has no placeholder.
        ParameterMissing: a positional placeholder has no value.
    """
    if not parameters and "?" not in sql:
        return
    try:
        names, count = _places(sql)
    except TokenError:
        return
    if isinstance(parameters, Mapping):
        for name in parameters:
            if name not in names:
                raise ParameterUnused(f"The SQL text has no parameter :{name}. Remove its value.")
    elif len(parameters) > count:
        raise ParameterUnused(
            f"The SQL text has {count} positional parameters; {len(parameters)} values came."
        )
    elif len(parameters) < count:
        raise ParameterMissing(
            f"The SQL text has {count} positional parameters; {len(parameters)} values came."
        )


def _places(sql: str) -> tuple[frozenset[str], int]:
    tokens = tokenize(sql, read="spark")
    named = {after.text for before, after in pairwise(tokens) if before.token_type is TokenType.COLON}
    return frozenset(named), sum(token.token_type in _POSITIONAL for token in tokens)
