"""Splits the text of an aggregation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import TokenType
from sqlglot.tokenizer_core import Token

from service.model.query.refresh import Aggregation, NotRefreshable, RefreshOutcome
from service.pruning.aggregation.clauses import Clauses, clauses_of, depths, split_at_commas, text_of
from service.pruning.aggregation.templates import Templates, shape_of

_NAMES = {TokenType.VAR, TokenType.IDENTIFIER}
_BEFORE_ALIAS = {
    TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END, TokenType.NULL, TokenType.TRUE, TokenType.FALSE,
    TokenType.UNKNOWN, TokenType.NUMBER, TokenType.STRING, TokenType.RAW_STRING, TokenType.HEX_STRING,
    # The tokenizer reads the suffix of `1L` or `2.5BD` as a cast.
    TokenType.BIGINT, TokenType.SMALLINT, TokenType.TINYINT, TokenType.DECIMAL, TokenType.DOUBLE,
    TokenType.FLOAT, *_NAMES,
}  # fmt: skip
"""An expression may end with one of these; it goes on after any other."""


@dataclass(frozen=True, slots=True)
class _Item:
    value: Sequence[Token]
    alias: str


def split(
    sql: str,
    qualifiers: frozenset[str],
    columns: frozenset[str],
    shared: frozenset[str] = frozenset(),
) -> Aggregation:
    """Returns the parts of the query.

    Args:
        sql: its text.
        qualifiers: what qualifies columns in it, in lower case.
        columns: the names of the columns of all its tables, in lower case.
        shared: those of them that several of its tables have.

    Raises:
        NotRefreshable: it is not one SELECT with aggregates, or its names may mean several things.

    >>> sql = "SELECT a AS x, sum(b) + 1 FROM t GROUP BY x ORDER BY 2"
    >>> found = split(sql, qualifiers=frozenset({"t"}), columns=frozenset({"a", "b"}))
    >>> found.keys, [call.text for call in found.calls], found.is_grouped
    (('a',), ['sum(b)'], True)
    """
    known = columns | qualifiers
    # Before a dot, the name of a column may be that of a struct.
    qualifiers -= columns
    clauses = clauses_of(sql)
    items = [_item(part) for part in split_at_commas(clauses.items)]
    keys = [_resolved(part, items, columns) for part in split_at_commas(clauses.keys)] if clauses.keys else []
    shapes = [shape_of(key, qualifiers, shared) for key in keys]
    for shape, key in zip(shapes, keys, strict=True):
        if len(shape) == 1 and key[-1].token_type not in _NAMES:
            raise NotRefreshable(RefreshOutcome.NAMES)
    templates = Templates(sql, shapes, qualifiers, shared)
    aliases = frozenset(
        item.alias
        for item in items
        if item.alias in known and shape_of(item.value, qualifiers, shared) != (item.alias,)
    )
    written = tuple(templates.of_item(item.value, aliases) for item in items)
    tail = tuple(_tail(clauses, templates, aliases))
    if not keys and not templates.calls:
        raise NotRefreshable(RefreshOutcome.NOT_AGGREGATED)
    return Aggregation(
        source=text_of(sql, clauses.source),
        keys=tuple(text_of(sql, key) for key in keys),
        calls=tuple(templates.calls),
        items=written,
        tail=tail,
        is_grouped=bool(keys),
    )


def _tail(clauses: Clauses, templates: Templates, aliases: frozenset[str]) -> Sequence[str]:
    found = []
    if clauses.having:
        found.append(f"HAVING {templates.of(clauses.having, aliases, may_stand_alone=False)}")
    if clauses.order:
        found.append(f"ORDER BY {templates.of(clauses.order, aliases)}")
    if clauses.limits:
        found.append(text_of(clauses.sql, clauses.limits))
    return found


def _item(tokens: Sequence[Token]) -> _Item:
    outside = [
        token.token_type is TokenType.ALIAS
        for token, depth in zip(tokens, depths(tokens), strict=True)
        if depth == 0
    ]
    if any(token.token_type is TokenType.STAR for token in (tokens[0], tokens[-1])):
        raise NotRefreshable(RefreshOutcome.NAMES)
    if len(tokens) > 2 and tokens[-2].token_type is TokenType.ALIAS and sum(outside) == 1:
        return _Item(tokens[:-2], tokens[-1].text.lower())
    if any(outside):
        raise NotRefreshable(RefreshOutcome.NAMES)
    if _has_alias(tokens):
        return _Item(tokens[:-1], tokens[-1].text.lower())
    return _Item(tokens, tokens[-1].text.lower() if tokens[-1].token_type in _NAMES else "")


def _has_alias(tokens: Sequence[Token]) -> bool:
    """Whether the last token is an alias without AS."""
    if len(tokens) < 2 or tokens[-1].token_type not in _NAMES or tokens[-2].token_type not in _BEFORE_ALIAS:
        return False
    # The last one may be the unit of an interval.
    return len(tokens) < 3 or tokens[-3].token_type is not TokenType.INTERVAL


def _resolved(key: Sequence[Token], items: Sequence[_Item], columns: frozenset[str]) -> Sequence[Token]:
    """Returns the expression that a key stands for: an item's number, its alias, or the key itself."""
    if len(key) > 1:
        return key
    word = key[0].text.lower()
    if key[0].token_type is TokenType.NUMBER:
        number = int(word) if word.isdigit() else 0
        if not 1 <= number <= len(items):
            raise NotRefreshable(RefreshOutcome.NAMES)
        return items[number - 1].value
    if word in columns:
        return key
    named = [item for item in items if item.alias == word and len(item.value)]
    if len(named) != 1:
        raise NotRefreshable(RefreshOutcome.NAMES)
    return named[0].value
