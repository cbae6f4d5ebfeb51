"""Finds the parts of one SELECT in the query's text by its tokens, because the tree has no such places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from sqlglot import TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.tokenizer_core import Token

from service.model.tables.sql import TextSpan

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END}
_AFTER_FROM = {
    *(TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.ORDER_BY, TokenType.SORT_BY),
    *(TokenType.CLUSTER_BY, TokenType.DISTRIBUTE_BY, TokenType.LIMIT, TokenType.WINDOW, TokenType.OFFSET),
    *(TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT, TokenType.QUALIFY, TokenType.SEMICOLON),
}
_AFTER_WHERE = _AFTER_FROM - {TokenType.WHERE}
_AFTER_ITEM = {TokenType.COMMA, *_AFTER_FROM}
_FUNCTIONS_TOO = {TokenType.LEFT, TokenType.RIGHT}
_JOINS = {
    *(TokenType.JOIN, TokenType.INNER, TokenType.CROSS, TokenType.LEFT, TokenType.RIGHT, TokenType.FULL),
    *(TokenType.OUTER, TokenType.SEMI, TokenType.ANTI, TokenType.NATURAL, TokenType.LATERAL),
}


@dataclass(frozen=True, slots=True)
class FromItem:
    """A table in a FROM with the comma or the JOIN … ON that adds it; to cut the spans removes the table.

    `conjuncts` are the parts between the ANDs of the ON that is removed with it.
    """

    spans: tuple[TextSpan, ...]
    conjuncts: tuple[TextSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class SelectText:
    """The tokens of a query's text, and searches in them."""

    tokens: tuple[Token, ...]

    @classmethod
    def of(cls, sql: str) -> SelectText:
        """Returns the tokens of the text."""
        return cls(tuple(Spark().tokenize(sql)))

    def from_item(self, start: int, end: int, has_alias: bool) -> FromItem | None:
        """Returns the table named from `start` to `end` as an item of its FROM; None if it cannot be cut out.

        It cannot be cut out if it is alone, if it is first before a JOIN of a JOIN, or under an outer, semi
        or natural join.
        """
        first, last = self._at(start), self._ending_at(end)
        if first is None or last is None:
            return None
        if has_alias:
            last += 2 if self._type(last + 1) is TokenType.ALIAS else 1
        before, after = self._type(first - 1), self._type(last + 1)
        if before is TokenType.JOIN and after is TokenType.ON:
            return self._joined(first - 1, last + 1)
        if before is TokenType.FROM and after is TokenType.COMMA:
            return FromItem((TextSpan(self.tokens[first].start, self.tokens[last + 1].end + 1),))
        if before is TokenType.FROM:
            return self._first(first, last + (2 if after is TokenType.INNER else 1))
        if before is TokenType.COMMA and (after in _AFTER_ITEM or after in _CLOSING or after is None):
            return FromItem((TextSpan(self.tokens[first - 1].start, self.tokens[last].end + 1),))
        return None

    def conjuncts_after(self, position: int) -> Sequence[TextSpan]:
        """Returns the parts between the ANDs of the next WHERE on the same level; none when it has an OR."""
        where = next((i for i in self._level_from(position) if self._type(i) is TokenType.WHERE), None)
        return () if where is None else self._conjuncts(self._until(where + 1, _AFTER_WHERE))

    def _joined(self, join: int, on: int) -> FromItem | None:
        condition = list(self._until(on + 1, {*_AFTER_ITEM, *_JOINS}))
        conjuncts = self._conjuncts(condition)
        kind = self._type(join - 1)
        if not conjuncts or kind in _JOINS - {TokenType.INNER}:
            return None
        begin = self.tokens[join - 1 if kind is TokenType.INNER else join].start
        return FromItem((TextSpan(begin, self._end_of(condition[-1])),), tuple(conjuncts))

    def _first(self, first: int, join: int) -> FromItem | None:
        """Returns the table before the first JOIN: the joined table takes its place, and the ON goes."""
        if self._type(join) is not TokenType.JOIN:
            return None
        stops = {TokenType.ON, *_AFTER_ITEM, *_JOINS}
        behind_join = self._level_from(self.tokens[join].end + 1)
        on = next((position for position in behind_join if self._type(position) in stops), join)
        condition = list(self._until(on + 1, {*_AFTER_ITEM, *_JOINS}))
        conjuncts = self._conjuncts(condition)
        if self._type(on) is not TokenType.ON or not conjuncts:
            return None
        before = TextSpan(self.tokens[first].start, self.tokens[join + 1].start)
        behind = TextSpan(self.tokens[on].start, self._end_of(condition[-1]))
        return FromItem((before, behind), tuple(conjuncts))

    def _until(self, index: int, stops: Set[TokenType]) -> Iterator[int]:
        """Yields the tokens of this level from there on, up to one that ends the clause."""
        for position in self._level_from(self.tokens[index].start if index < len(self.tokens) else 1 << 60):
            is_function = (
                self._type(position + 1) is TokenType.L_PAREN and self._type(position) in _FUNCTIONS_TOO
            )
            if self._type(position) in stops and not is_function:
                return
            yield position

    def _conjuncts(self, indices: Iterable[int]) -> Sequence[TextSpan]:
        parts: list[list[int]] = [[]]
        is_between = False
        for index in indices:
            kind = self._type(index)
            if kind in (TokenType.OR, TokenType.XOR):
                return ()
            if kind is TokenType.AND and not is_between:
                parts.append([])
                continue
            is_between = kind is TokenType.BETWEEN or (is_between and kind is not TokenType.AND)
            parts[-1].append(index)
        if not all(parts):
            return ()
        return [TextSpan(self.tokens[part[0]].start, self._end_of(part[-1])) for part in parts]

    def _level_from(self, position: int) -> Iterator[int]:
        """Yields the tokens from there to the end of their level; for parentheses, only the opening one."""
        depth = 0
        for index, token in enumerate(self.tokens):
            if token.start < position:
                continue
            if token.token_type in _CLOSING:
                depth -= 1
                if depth < 0:
                    return
                continue
            if depth == 0:
                yield index
            if token.token_type in _OPENING:
                depth += 1

    def _end_of(self, index: int) -> int:
        """Returns where the token ends, or for an opening one, where its closing one ends."""
        depth = 0
        for token in self.tokens[index:]:
            depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
            if depth == 0:
                return token.end + 1
        return self.tokens[-1].end + 1

    def _type(self, index: int) -> TokenType | None:
        return self.tokens[index].token_type if 0 <= index < len(self.tokens) else None

    def _at(self, start: int) -> int | None:
        return next((i for i, token in enumerate(self.tokens) if token.start == start), None)

    def _ending_at(self, end: int) -> int | None:
        return next((i for i, token in enumerate(self.tokens) if token.end + 1 == end), None)
