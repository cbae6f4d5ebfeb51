"""Replaces the keys and the aggregates of an expression by placeholders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import TokenType
from sqlglot.tokenizer_core import Token

from service.model.query.refresh import AggregateCall, NotRefreshable, RefreshOutcome, placeholder
from service.pruning.aggregation.clauses import closing, text_of

MERGED = frozenset(
    {
        "sum",
        "count",
        "count_if",
        "min",
        "max",
        "avg",
        "mean",
        "bool_and",
        "every",
        "bool_or",
        "some",
        "any",
        "bit_and",
        "bit_or",
        "bit_xor",
        "approx_count_distinct",
        "bitmap_and_agg",
        "bitmap_construct_agg",
        "bitmap_or_agg",
    }
)
"""The aggregates of two sets of rows together follow from those of each."""
_OF_SAME_CLASSES = frozenset({"try_avg", "try_sum"})
"""Other functions of the engine that a plan does not distinguish from these."""
_BEFORE_WHOLE = {TokenType.L_PAREN, TokenType.COMMA}
_AFTER_WHOLE = {TokenType.R_PAREN, TokenType.COMMA, TokenType.ASC, TokenType.DESC}
_NAMES = {TokenType.VAR, TokenType.IDENTIFIER}
Shape = tuple[str, ...]


@dataclass(slots=True)
class Templates:
    """Makes templates of a query's expressions, and collects the aggregates in them.

    `qualifiers` are the names that qualify columns in this query, and `sql` is its text. `keys` are the
    shapes of its group expressions. Several tables have a column with a `shared` name.
    """

    sql: str
    keys: Sequence[Shape]
    qualifiers: frozenset[str]
    shared: frozenset[str] = frozenset()
    calls: list[AggregateCall] = field(default_factory=list)

    def of_item(self, tokens: Sequence[Token], aliases: frozenset[str]) -> str:
        """Returns a column of the result with placeholders; `aliases` are as for `of`.

        Here they mean what the tables have. Without these, one that is left would mean the result's column.

        Raises:
            NotRefreshable: as for `of`, or such a name is left.
        """
        return self._written(tokens, frozenset(), aliases, may_stand_alone=True)

    def of(
        self, tokens: Sequence[Token], aliases: frozenset[str] = frozenset(), *, may_stand_alone: bool = True
    ) -> str:
        """Returns the expression with placeholders.

        `aliases` are names of columns of the result that are also columns of a table. Outside of aggregates
        they mean the former, if they `may_stand_alone`.

        Raises:
            NotRefreshable: a part of it cannot be kept, or a name may mean two things.
        """
        return self._written(tokens, aliases, frozenset(), may_stand_alone=may_stand_alone)

    def _written(
        self,
        tokens: Sequence[Token],
        aliases: frozenset[str],
        never_left: frozenset[str],
        *,
        may_stand_alone: bool,
    ) -> str:
        written: list[str] = []
        place = 0
        while place < len(tokens):
            if not may_stand_alone and _is_alias(tokens, place, aliases):
                raise NotRefreshable(RefreshOutcome.NAMES)
            end, text = self._part(tokens, place, aliases)
            is_left = text == self.sql[tokens[place].start : tokens[place].end + 1]
            if is_left and _is_alias(tokens, place, never_left) and not _is_other(tokens, place):
                raise NotRefreshable(RefreshOutcome.NAMES)
            if written:
                written.append(self.sql[tokens[place - 1].end + 1 : tokens[place].start])
            written.append(text)
            place = end
        return "".join(written)

    def _part(self, tokens: Sequence[Token], place: int, aliases: frozenset[str]) -> tuple[int, str]:
        token = tokens[place]
        is_after_dot = place > 0 and tokens[place - 1].token_type is TokenType.DOT
        if not is_after_dot:
            for number in sorted(range(len(self.keys)), key=lambda key: -len(self.keys[key])):
                end = self._matched(self.keys[number], tokens, place)
                if end is not None:
                    is_named = _is_name(self.keys[number]) and self.keys[number][-1] in aliases
                    if is_named or any(_is_alias(tokens, inner, aliases) for inner in range(place, end)):
                        raise NotRefreshable(RefreshOutcome.NAMES)
                    return end, placeholder("k", number)
            if _is_called(tokens, place) and token.text.lower() in MERGED:
                return self._call(tokens, place, aliases)
        if _is_called(tokens, place) and (is_after_dot or _may_aggregate(token)):
            # An aggregate that is left would be one of the rows of the state, instead of the table's.
            raise NotRefreshable(RefreshOutcome.AGGREGATE)
        return place + 1, self.sql[token.start : token.end + 1]

    def _call(self, tokens: Sequence[Token], place: int, aliases: frozenset[str]) -> tuple[int, str]:
        end = closing(tokens, place + 1)
        inner = tokens[place + 2 : end]
        condition: Sequence[Token] = ()
        if end + 1 < len(tokens) and tokens[end + 1].token_type is TokenType.FILTER:
            closed = closing(tokens, end + 2)
            condition, end = tokens[end + 1 : closed + 1], closed
        within = (*inner, *condition)
        if any(_is_alias(within, number, aliases) for number in range(len(within))):
            raise NotRefreshable(RefreshOutcome.NAMES)
        call = AggregateCall(
            tokens[place].text.lower(), text_of(self.sql, inner), text_of(self.sql, condition)
        )
        if call not in self.calls:
            self.calls.append(call)
        return end + 1, placeholder("a", self.calls.index(call))

    def _matched(self, key: Shape, tokens: Sequence[Token], place: int) -> int | None:
        """Returns where a key ends that begins here; None: there is none."""
        for end in range(place + 1, min(place + 2 * len(key) + 2, len(tokens)) + 1):
            shape = shape_of(tokens[place:end], self.qualifiers, self.shared)
            if shape == key and _is_whole(key, tokens, place, end):
                return end
        return None


def is_aggregate_call(tokens: Sequence[Token], place: int) -> bool:
    """Whether a call of a mergeable aggregate begins here; `LIKE ANY (…)` is none.

    >>> from sqlglot import tokenize
    >>> [is_aggregate_call(tokenize(text, read="spark"), 1) for text in ("1 + sum(a)", "a.sum(b)", "sum(a)")]
    [False, False, False]
    >>> is_aggregate_call(tokenize("sum(a)", read="spark"), 0)
    True
    """
    before = tokens[place - 1].text.upper() if place else ""
    is_name = _is_called(tokens, place) and tokens[place].text.lower() in MERGED
    return is_name and before not in (".", "LIKE", "ILIKE")


def shape_of(
    tokens: Sequence[Token], qualifiers: frozenset[str], shared: frozenset[str] = frozenset()
) -> Shape:
    """Returns what two expressions have in common that are written alike.

    Case makes no difference for names. Nor does the table's name before a column, unless the column's name
    is `shared` by several tables: a column without one can only belong to one table. A name that no table
    has is that of a struct, and makes a difference.
    """
    found: list[str] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        is_qualifier = (
            token.token_type in _NAMES
            and token.text.lower() in qualifiers
            and place + 2 < len(tokens)
            and tokens[place + 1].token_type is TokenType.DOT
            and (place == 0 or tokens[place - 1].token_type is not TokenType.DOT)
            and tokens[place + 2].text.lower() not in shared
        )
        if is_qualifier:
            place += 2
            continue
        is_quoted = token.token_type is TokenType.STRING
        found.append(f"'{token.text}'" if is_quoted else token.text.lower())
        place += 1
    return tuple(found)


def _is_whole(key: Shape, tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether a part of an expression is an operand of its own, whatever stands around it."""
    after = tokens[end] if end < len(tokens) else None
    if after is not None and after.token_type in (
        TokenType.DOT, TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.STRING, TokenType.DCOLON,
        TokenType.FARROW, TokenType.ARROW,
    ):  # fmt: skip
        return False
    if start and tokens[start - 1].token_type in (TokenType.ALIAS, TokenType.COLON):
        return False
    if _is_name(key):
        return tokens[end - 1].token_type in _NAMES
    is_begun = start == 0 or tokens[start - 1].token_type in _BEFORE_WHOLE
    is_ended = after is None or after.token_type in _AFTER_WHOLE
    return is_begun and (is_ended or _is_place_of_nulls(tokens[end : end + 2]))


def _is_place_of_nulls(tokens: Sequence[Token]) -> bool:
    return [token.text.upper() for token in tokens] in (["NULLS", "FIRST"], ["NULLS", "LAST"])


def _is_alias(tokens: Sequence[Token], place: int, aliases: frozenset[str]) -> bool:
    is_after_dot = place > 0 and tokens[place - 1].token_type is TokenType.DOT
    is_name = tokens[place].token_type in _NAMES and not is_after_dot
    return is_name and tokens[place].text.lower() in aliases


def _is_other(tokens: Sequence[Token], place: int) -> bool:
    """Whether the name is that of a function or of a parameter."""
    before = tokens[place - 1].token_type if place else None
    return _is_called(tokens, place) or before in (TokenType.COLON, TokenType.PARAMETER)


def _is_name(key: Shape) -> bool:
    """Whether it is a column, perhaps with the name of its table."""
    return len(key) == 1 or (len(key) == 3 and key[1] == ".")


def _may_aggregate(called: Token) -> bool:
    """Whether a call by another name than those in `MERGED` may be one, as `IDENTIFIER('sum')(a)`."""
    name = called.text.lower()
    return name in _OF_SAME_CLASSES or name == "identifier"


def _is_called(tokens: Sequence[Token], place: int) -> bool:
    follows = place + 1 < len(tokens) and tokens[place + 1].token_type is TokenType.L_PAREN
    return follows and tokens[place].token_type is not TokenType.STRING
