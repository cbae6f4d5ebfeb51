"""A DELETE, UPDATE or MERGE as the query that finds the rows which it changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from sqlglot import TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token

from service.model.tables.sql import TextSpan
from service.model.writes.writes import WriteKind
from service.pruning.sql_text.has_clear_comments import has_clear_comments
from service.pruning.sql_text.nesting import is_shallow

_SPARK = Spark()
_WORD = re.compile(r"\w+", re.ASCII)
_RESERVED = frozenset({"AS", "FROM", "MERGE", "ON", "SELECT", "SET", "USING", "WHEN", "WHERE"})
_OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
_CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})


@dataclass(frozen=True, slots=True)
class _Copied:
    """A part of the statement that the question has too, from `at` on."""

    at: int
    span: TextSpan


@dataclass(frozen=True, slots=True)
class ChangeText:
    """A statement that changes rows of one table, and the `question`: a query that joins as it does.

    Each row of the target that the statement's `condition` is true of, together with some row of what it
    reads, is in the question's joins. The question's first table reference is the target. The source of a
    MERGE is at `source` if it is a table by its name. A statement that `only_adds` rows changes no others.
    """

    kind: WriteKind
    sql: str
    question: str
    condition: TextSpan
    copied: tuple[_Copied, ...]
    source: TextSpan | None = None
    only_adds: bool = False

    def place_of(self, at: int) -> int | None:
        """Returns where a place of the question is in the statement; None: the statement does not have it."""
        for part in self.copied:
            length = part.span.end - part.span.start
            if part.at <= at < part.at + length:
                return part.span.start + at - part.at
        return None


def change_text(sql: str) -> ChangeText | None:
    """Returns a DELETE, UPDATE or MERGE with its question; None where rows that it changes depend on no join.

    None, too, where its parts are not clear: common table expressions before it, a CASE that the condition of
    a MERGE has outside of parentheses, subqueries in assignments. A MERGE that says WHEN NOT MATCHED BY
    SOURCE needs all rows of its target.

    >>> found = change_text("DELETE FROM f AS t WHERE k IN (SELECT k FROM s);")
    >>> found.question, found.sql[found.condition.start : found.condition.end]
    ('SELECT 1 FROM f AS t WHERE k IN (SELECT k FROM s)', 'k IN (SELECT k FROM s)')
    >>> found = change_text("MERGE INTO f USING s ON f.k = s.k WHEN NOT MATCHED THEN INSERT *")
    >>> found.question, found.place_of(found.question.index("s ON"))
    ('SELECT 1 FROM f RIGHT JOIN s ON f.k = s.k', 19)
    """
    if not has_clear_comments(sql):
        return None
    try:
        tokens = list(_SPARK.tokenize(sql))
    except SqlglotError:
        return None
    if tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if not is_shallow(tokens) or len(tokens) < 4:
        return None
    if _says(tokens, "DELETE", "FROM"):
        return _deleted(sql, tokens)
    if _says(tokens, "UPDATE"):
        return _updated(sql, tokens)
    return _merged(sql, tokens) if _says(tokens, "MERGE", "INTO") else None


def _deleted(sql: str, tokens: Sequence[Token]) -> ChangeText | None:
    wheres = _outermost(tokens, "WHERE")
    if len(wheres) != 1 or not _is_named(tokens[2 : wheres[0]]):
        return None
    target, condition = _span(tokens[2 : wheres[0]]), tokens[wheres[0] + 1 :]
    return _filtered(WriteKind.DELETE, sql, target, condition)


def _updated(sql: str, tokens: Sequence[Token]) -> ChangeText | None:
    sets, wheres = _outermost(tokens, "SET"), _outermost(tokens, "WHERE")
    if not sets or len(wheres) != 1 or wheres[0] < sets[0] or not _is_named(tokens[1 : sets[0]]):
        return None
    assigned = tokens[sets[0] + 1 : wheres[0]]
    # The placeholders of the condition are counted from the statement's first one.
    if _has(assigned, TokenType.SELECT, TokenType.PLACEHOLDER):
        return None
    return _filtered(WriteKind.UPDATE, sql, _span(tokens[1 : sets[0]]), tokens[wheres[0] + 1 :])


def _filtered(kind: WriteKind, sql: str, target: TextSpan, condition: Sequence[Token]) -> ChangeText | None:
    if not _has(condition, TokenType.SELECT):
        return None
    asked = _span(condition)
    return _asked(kind, sql, ("SELECT 1 FROM ", target, " WHERE ", asked), asked)


def _merged(sql: str, tokens: Sequence[Token]) -> ChangeText | None:
    usings, ons, whens = (_outermost(tokens, word) for word in ("USING", "ON", "WHEN"))
    if not usings or not ons or not whens or len(ons) != 1 or not usings[0] < ons[0] < whens[0]:
        return None
    target, source = tokens[2 : usings[0]], tokens[usings[0] + 1 : ons[0]]
    condition, actions = tokens[ons[0] + 1 : whens[0]], tokens[whens[0] :]
    is_table = _is_named(source)
    if not _is_named(target) or not condition or not (is_table or _is_derived(source)):
        return None
    words = [token.text.upper() for token in actions]
    if _outermost(condition, "CASE") or _has(actions, TokenType.SELECT) or _follow(words, "BY", "SOURCE"):
        return None
    # A path could mean the source, which gets a shorter name where its snapshot is given.
    if is_table and _has_paths((*condition, *actions)):
        return None
    # Rows of the source without a match are needed only to insert them.
    join = " RIGHT JOIN " if _follow(words, "NOT", "MATCHED") else " JOIN "
    asked = _span(condition)
    parts = ("SELECT 1 FROM ", _span(target), join, _span(source), " ON ", asked)
    found = _asked(WriteKind.MERGE, sql, parts, asked, _span(source) if is_table else None)
    return replace(found, only_adds=not _follow(words, "WHEN", "MATCHED"))


def _asked(
    kind: WriteKind,
    sql: str,
    parts: Iterable[str | TextSpan],
    condition: TextSpan,
    source: TextSpan | None = None,
) -> ChangeText:
    question = ""
    copied: list[_Copied] = []
    for part in parts:
        if isinstance(part, TextSpan):
            copied.append(_Copied(len(question), part))
            part = sql[part.start : part.end]
        question += part
    return ChangeText(kind, sql, question, condition, tuple(copied), source)


def _says(tokens: Sequence[Token], *words: str) -> bool:
    return tuple(token.text.upper() for token in tokens[: len(words)]) == words


def _follow(words: Sequence[str], first: str, second: str) -> bool:
    return (first, second) in pairwise(words)


def _has(tokens: Iterable[Token], *kinds: TokenType) -> bool:
    return any(token.token_type in kinds for token in tokens)


def _has_paths(tokens: Sequence[Token]) -> bool:
    """Whether a name has three parts or more."""
    dots = [token.token_type is TokenType.DOT for token in tokens]
    return any(one and other for one, other in zip(dots, dots[2:], strict=False))


def _outermost(tokens: Sequence[Token], word: str) -> list[int]:
    """Returns the places of a word that stands in no parentheses or quotes."""
    return [
        at
        for at, (token, depth) in enumerate(zip(tokens, _depths(tokens), strict=True))
        if depth == 0 and token.token_type is not TokenType.IDENTIFIER and _is_word(token, word)
    ]


def _is_word(token: Token, word: str) -> bool:
    return token.token_type is not TokenType.STRING and token.text.upper() == word


def _depths(tokens: Iterable[Token]) -> Iterator[int]:
    depth = 0
    for token in tokens:
        depth -= token.token_type in _CLOSING
        yield depth
        depth += token.token_type in _OPENING


def _is_named(tokens: Sequence[Token]) -> bool:
    """Whether it is a table's name, maybe with an alias."""
    at = 1
    if not tokens or not _is_name(tokens[0]):
        return False
    while at + 1 < len(tokens) and tokens[at].token_type is TokenType.DOT and _is_name(tokens[at + 1]):
        at += 2
    return _is_alias(tokens[at:])


def _is_derived(tokens: Sequence[Token]) -> bool:
    """Whether it is a query in parentheses with an alias."""
    ends = [
        at
        for at, (token, depth) in enumerate(zip(tokens, _depths(tokens), strict=True))
        if depth == 0 and token.token_type is TokenType.R_PAREN
    ]
    if not ends or tokens[0].token_type is not TokenType.L_PAREN:
        return False
    rest = tokens[ends[0] + 1 :]
    return bool(rest) and _is_alias(rest)


def _is_alias(tokens: Sequence[Token]) -> bool:
    named = tokens[1:] if tokens and tokens[0].token_type is TokenType.ALIAS else tokens
    return not tokens or (len(named) == 1 and _is_name(named[0]))


def _is_name(token: Token) -> bool:
    if token.token_type is TokenType.IDENTIFIER:
        return True
    is_word = token.token_type is not TokenType.STRING and _WORD.fullmatch(token.text) is not None
    return is_word and token.text.upper() not in _RESERVED


def _span(tokens: Sequence[Token]) -> TextSpan:
    return TextSpan(tokens[0].start, tokens[-1].end + 1)
