"""Finds the clauses of a SELECT, as ranges of its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlglot import TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.pruning.sql_text.has_clear_comments import has_clear_comments

_SPARK = Spark()
_OPEN = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE}
_CLOSE = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE}
_ORDER = (
    TokenType.SELECT,
    TokenType.FROM,
    TokenType.WHERE,
    TokenType.GROUP_BY,
    TokenType.HAVING,
    TokenType.ORDER_BY,
    TokenType.LIMIT,
    TokenType.OFFSET,
)
_SET_OPERATIONS = {TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT, TokenType.WITH, TokenType.VALUES}
_REFUSED_WORDS = {
    RefreshOutcome.NOT_ONE_SELECT: (
        "LATERAL PIVOT UNPIVOT TABLESAMPLE QUALIFY WINDOW CLUSTER DISTRIBUTE SORT MINUS TABLE "
        "MATCH_RECOGNIZE NATURAL USING"
    ),
    RefreshOutcome.WINDOW: "OVER WITHIN",
    RefreshOutcome.DISTINCT: "DISTINCT",
    RefreshOutcome.GROUPING_SETS: "CUBE ROLLUP GROUPING GROUPING_ID",
    RefreshOutcome.PARAMETERS: "?",
}
_REFUSED = {word: reason for reason, words in _REFUSED_WORDS.items() for word in words.split()} | {
    "CLUSTER BY": RefreshOutcome.NOT_ONE_SELECT,
    "DISTRIBUTE BY": RefreshOutcome.NOT_ONE_SELECT,
    "SORT BY": RefreshOutcome.NOT_ONE_SELECT,
    "GROUPING SETS": RefreshOutcome.GROUPING_SETS,
}


@dataclass(frozen=True, slots=True)
class Clauses:
    """The tokens of each clause, without its keyword; `source` is the text from FROM to the end of WHERE."""

    sql: str
    items: Sequence[Token]
    source: Sequence[Token]
    keys: Sequence[Token]
    having: Sequence[Token]
    order: Sequence[Token]
    limits: Sequence[Token]


def clauses_of(sql: str) -> Clauses:
    """Returns the clauses of the text. Only its FROM clause may have other SELECTs, in parentheses.

    Raises:
        NotRefreshable: it has other SELECTs, clauses that are not supported, or none to aggregate.

    >>> found = clauses_of("SELECT a, sum(b) FROM t WHERE c > 1 GROUP BY a LIMIT 3")
    >>> [text_of(found.sql, part) for part in (found.source, found.keys, found.limits)]
    ['FROM t WHERE c > 1', 'a', 'LIMIT 3']
    """
    tokens = tokens_of(sql)
    check_words(tokens)
    found = positions(tokens)
    ends = [*sorted(found.values()), len(tokens)]
    end_of_from = ends[ends.index(found[TokenType.FROM]) + 1]
    check_subqueries(tokens[1 : found[TokenType.FROM]])
    check_subqueries(tokens[end_of_from:])

    def after(kind: TokenType, skipped: int = 1) -> Sequence[Token]:
        if kind not in found:
            return ()
        start = found[kind]
        return tokens[start + skipped : ends[ends.index(start) + 1]]

    limit = min((found[kind] for kind in (TokenType.LIMIT, TokenType.OFFSET) if kind in found), default=None)
    return Clauses(
        sql,
        items=after(TokenType.SELECT),
        source=(*after(TokenType.FROM, 0), *after(TokenType.WHERE, 0)),
        keys=after(TokenType.GROUP_BY),
        having=after(TokenType.HAVING),
        order=after(TokenType.ORDER_BY),
        limits=() if limit is None else tokens[limit:],
    )


def text_of(sql: str, tokens: Sequence[Token]) -> str:
    """Returns the text of consecutive tokens, with the blanks between them."""
    return sql[tokens[0].start : tokens[-1].end + 1] if tokens else ""


def split_at_commas(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    """Returns the parts of a list whose commas are outside of all parentheses."""
    parts: list[list[Token]] = [[]]
    for token, depth in zip(tokens, depths(tokens), strict=True):
        if depth == 0 and token.token_type is TokenType.COMMA:
            parts.append([])
        else:
            parts[-1].append(token)
    if not all(parts):
        raise NotRefreshable(RefreshOutcome.NOT_ONE_SELECT)
    return list(parts)


def depths(tokens: Sequence[Token]) -> list[int]:
    """Returns how many parentheses are open at each token; both signs of a pair count as outside."""
    found, depth = [], 0
    for token in tokens:
        if token.token_type in _CLOSE:
            depth -= 1
        found.append(depth)
        if token.token_type in _OPEN:
            depth += 1
    return found


def closing(tokens: Sequence[Token], opening: int) -> int:
    """Returns the place of the sign that closes the parenthesis at this place.

    Raises:
        NotRefreshable: there is none.
    """
    depth = 0
    for place in range(opening, len(tokens)):
        if tokens[place].token_type in _OPEN:
            depth += 1
        elif tokens[place].token_type in _CLOSE:
            depth -= 1
            if depth == 0:
                return place
    raise NotRefreshable(RefreshOutcome.NOT_ONE_SELECT)


def tokens_of(sql: str) -> list[Token]:
    """Returns the tokens of a text, without semicolons at its end.

    Raises:
        NotRefreshable: comments, hints or escapes could hide something of it.
    """
    if "|>" in sql or "\x00" in sql or "\\" in sql or not has_clear_comments(sql):
        raise NotRefreshable(RefreshOutcome.NOT_ONE_SELECT)
    if "/*+" in sql:
        raise NotRefreshable(RefreshOutcome.HINT)
    try:
        tokens = list(_SPARK.tokenize(sql))
    except TokenError:
        raise NotRefreshable(RefreshOutcome.NOT_ONE_SELECT) from None
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    return tokens


def check_words(tokens: Sequence[Token]) -> None:
    """Checks that they are a SELECT without words that are not supported, however deep these are.

    Raises:
        NotRefreshable: they are not.
    """
    for token in tokens:
        if token.token_type is TokenType.STRING:
            continue
        if token.text.startswith("__"):
            # The names of a state begin like this.
            raise NotRefreshable(RefreshOutcome.NAMES)
        if token.token_type is not TokenType.IDENTIFIER:
            refused = _refused(token)
            if refused is not None:
                raise NotRefreshable(refused)
    is_select = len(tokens) > 1 and tokens[0].token_type is TokenType.SELECT
    if not is_select or tokens[1].text.upper() in ("ALL", "TRANSFORM"):
        raise NotRefreshable(RefreshOutcome.NOT_ONE_SELECT)


def check_subqueries(tokens: Sequence[Token]) -> None:
    """Checks that none of them begins a SELECT, or a query without one such as `(FROM t)`.

    Raises:
        NotRefreshable: one does.
    """
    has_select = any(token.token_type is TokenType.SELECT for token in tokens)
    kinds = pairwise(token.token_type for token in tokens)
    if has_select or (TokenType.L_PAREN, TokenType.FROM) in kinds:
        raise NotRefreshable(RefreshOutcome.SUBQUERY)


def _refused(token: Token) -> RefreshOutcome | None:
    kind, word = token.token_type, token.text.upper()
    if kind is TokenType.SEMICOLON or kind in _SET_OPERATIONS:
        return RefreshOutcome.NOT_ONE_SELECT
    return RefreshOutcome.PARAMETERS if kind is TokenType.PLACEHOLDER else _REFUSED.get(word)


def positions(tokens: Sequence[Token]) -> dict[TokenType, int]:
    """Returns where each clause of a SELECT begins.

    Raises:
        NotRefreshable: it has no FROM clause, or clauses in another order.
    """
    found: dict[TokenType, int] = {}
    for place, (token, depth) in enumerate(zip(tokens, depths(tokens), strict=True)):
        if depth or token.token_type not in _ORDER:
            continue
        if token.token_type in found:
            raise NotRefreshable(RefreshOutcome.NOT_ONE_SELECT)
        found[token.token_type] = place
    given = [kind for kind in _ORDER if kind in found]
    if [found[kind] for kind in given] != sorted(found.values()) or TokenType.FROM not in found:
        raise NotRefreshable(RefreshOutcome.NOT_ONE_SELECT)
    return found
