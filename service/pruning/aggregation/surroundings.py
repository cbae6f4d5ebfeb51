"""Finds the aggregation of a query, and the text around it that works on its groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import TokenType
from sqlglot.tokenizer_core import Token

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.pruning.aggregation.clauses import (
    check_subqueries,
    check_words,
    closing,
    positions,
    tokens_of,
)
from service.pruning.aggregation.templates import is_aggregate_call

_NAMES = {TokenType.VAR, TokenType.IDENTIFIER}


@dataclass(frozen=True, slots=True)
class Surrounded:
    """A text in three parts; `aggregation` is the SELECT with aggregates."""

    before: str
    aggregation: str
    after: str


def surrounded(sql: str) -> Surrounded:
    """Returns the outermost SELECT with aggregates, and the text around it.

    Each SELECT around it reads one derived table, and nothing else: the one inside it.

    Raises:
        NotRefreshable: there are no aggregates, or something else around them.

    >>> surrounded("SELECT s / 2 FROM (SELECT a, sum(b) AS s FROM t GROUP BY a) AS g WHERE s > 1")
    Surrounded(before='SELECT s / 2 FROM (', aggregation='SELECT a, sum(b) AS s FROM t GROUP BY a', \
after=') AS g WHERE s > 1')
    """
    tokens = tokens_of(sql)
    inner: Sequence[Token] = tokens
    while True:
        check_words(inner)
        found = positions(inner)
        if _has_aggregates(inner, found):
            break
        inner = _derived(inner, found)
    start, end = inner[0].start, inner[-1].end + 1
    return Surrounded(sql[tokens[0].start : start], sql[start:end], sql[end : tokens[-1].end + 1])


def _has_aggregates(tokens: Sequence[Token], found: dict[TokenType, int]) -> bool:
    if TokenType.GROUP_BY in found or TokenType.HAVING in found:
        return True
    return any(is_aggregate_call(tokens, place) for place in range(found[TokenType.FROM]))


def _derived(tokens: Sequence[Token], found: dict[TokenType, int]) -> Sequence[Token]:
    """Returns the tokens of the one derived table that a SELECT reads."""
    begin = found[TokenType.FROM]
    end = min((place for place in found.values() if place > begin), default=len(tokens))
    source = tokens[begin + 1 : end]
    if not source or source[0].token_type is not TokenType.L_PAREN:
        raise NotRefreshable(RefreshOutcome.NOT_AGGREGATED)
    closed = closing(source, 0)
    after = source[closed + 1 :]
    if not _is_alias(after):
        is_joined = any(token.token_type in (TokenType.JOIN, TokenType.COMMA) for token in after)
        raise NotRefreshable(RefreshOutcome.JOIN if is_joined else RefreshOutcome.NAMES)
    check_subqueries([*tokens[1:begin], *tokens[end:]])
    return source[1:closed]


def _is_alias(tokens: Sequence[Token]) -> bool:
    """Whether they are `AS name (columns)`, or a part of that."""
    left = list(tokens)
    if left and left[0].token_type is TokenType.ALIAS:
        left.pop(0)
    if left and left[0].token_type in _NAMES:
        left.pop(0)
    is_list = bool(left) and left[0].token_type is TokenType.L_PAREN and closing(left, 0) == len(left) - 1
    return not left or is_list
