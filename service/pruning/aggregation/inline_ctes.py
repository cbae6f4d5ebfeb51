"""Puts common table expressions in the places of their names; everything else stays byte for byte."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import TokenType, exp
from sqlglot.tokenizer_core import Token

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.model.tables.sql import ParsedQuery, TableReference, TextSpan
from service.model.tables.tables import NOW
from service.pruning.aggregation.clauses import closing, tokens_of


def inline_ctes(parsed: ParsedQuery) -> str:
    """Returns the text without WITH: each common table expression is a derived table where it is named.

    The engine has to confirm that the text means the same.

    Raises:
        NotRefreshable: an expression is recursive, or is not named exactly once, or its name has more than an
            alias after it.

    >>> from service.pruning.sql_text.parse import parse
    >>> print(inline_ctes(parse("WITH f(x) AS (SELECT a FROM t) SELECT max(x) FROM f")).lstrip())
    SELECT max(x) FROM (
    SELECT a FROM t
    ) AS `f`(`x`)
    """
    tokens = tokens_of(parsed.sql)
    definitions = {id(cte): _definition(cte, tokens) for cte in parsed.tree.find_all(exp.CTE)}
    clauses = [_span_of(clause, definitions, tokens) for clause in parsed.tree.find_all(exp.With)]
    named = _named(parsed)
    if sorted(named.values()) != sorted(definitions):
        raise NotRefreshable(RefreshOutcome.CTE)
    uses = {reference.end: definitions[cte] for reference, cte in named.items()}
    edits = sorted([*clauses, *(reference.span for reference in named)])
    return _Inliner(parsed.sql, edits, uses, {end.end: end.alias for end in named}).text(
        TextSpan(0, len(parsed.sql))
    )


@dataclass(frozen=True, slots=True)
class _Definition:
    """A common table expression: its name, the names of its columns if it has any, and its text."""

    name: str
    columns: tuple[str, ...]
    start: int
    body: TextSpan
    end: int


@dataclass(frozen=True, slots=True)
class _Inliner:
    """`edits` are the parts of the text that are replaced; `uses` are keyed by where a name ends."""

    sql: str
    edits: Sequence[TextSpan]
    uses: Mapping[int, _Definition]
    aliases: Mapping[int, str | None]

    def text(self, span: TextSpan) -> str:
        """Returns a part of the text without its own common table expressions."""
        written, place = [], span.start
        for edit in self.edits:
            # Those within another one are written with it.
            if place <= edit.start and edit.end <= span.end:
                written += [self.sql[place : edit.start], self._derived(edit)]
                place = edit.end
        return "".join([*written, self.sql[place : span.end]])

    def _derived(self, edit: TextSpan) -> str:
        """Returns the derived table in place of a name; nothing in place of a clause."""
        used = self.uses.get(edit.end)
        if used is None:
            return ""
        has_alias = self.aliases[edit.end] is not None
        if used.columns and has_alias:
            raise NotRefreshable(RefreshOutcome.CTE)
        columns = f"({', '.join(map(_quoted, used.columns))})" if used.columns else ""
        alias = "" if has_alias else f" AS {_quoted(used.name)}{columns}"
        # The text may end in a comment.
        return f"(\n{self.text(used.body)}\n){alias}"


def _definition(cte: exp.CTE, tokens: Sequence[Token]) -> _Definition:
    alias = cte.args["alias"]
    start = alias.this.meta.get("start")
    place = next((place for place, token in enumerate(tokens) if token.start == start), None)
    if place is None or any(value for key, value in cte.args.items() if key not in ("this", "alias")):
        raise NotRefreshable(RefreshOutcome.CTE)
    after = place + 1
    if after < len(tokens) and tokens[after].token_type is TokenType.L_PAREN and alias.columns:
        after = closing(tokens, after) + 1
    if after < len(tokens) and tokens[after].token_type is TokenType.ALIAS:
        after += 1
    if after >= len(tokens) or tokens[after].token_type is not TokenType.L_PAREN:
        raise NotRefreshable(RefreshOutcome.CTE)
    end = closing(tokens, after)
    return _Definition(
        alias.name,
        tuple(column.name for column in alias.columns),
        tokens[place].start,
        TextSpan(tokens[after].end + 1, tokens[end].start),
        tokens[end].end + 1,
    )


def _span_of(clause: exp.With, definitions: Mapping[int, _Definition], tokens: Sequence[Token]) -> TextSpan:
    first, last = (definitions[id(clause.expressions[place])] for place in (0, -1))
    before = [token for token in tokens if token.start < first.start]
    if clause.args.get("recursive") or not before or before[-1].token_type is not TokenType.WITH:
        raise NotRefreshable(RefreshOutcome.CTE)
    return TextSpan(before[-1].start, last.end)


def _named(parsed: ParsedQuery) -> Mapping[TableReference, int]:
    """Returns which common table expression a reference names, by the rules of the nearest WITH clause."""
    references = {reference.end: reference for reference in parsed.references}
    named: dict[TableReference, int] = {}
    for table in parsed.tree.find_all(exp.Table):
        cte = _visible(table)
        if cte is None:
            continue
        reference = references.get(table.this.meta.get("end", -2) + 1)
        if reference is None or not reference.is_plain or reference.version != NOW:
            raise NotRefreshable(RefreshOutcome.CTE)
        named[reference] = id(cte)
    return named


def _visible(table: exp.Table) -> exp.CTE | None:
    if len(table.parts) != 1:
        return None
    name, node = table.name.lower(), table
    below: exp.Expr = node
    while below.parent is not None:
        above = below.parent
        clause = above if isinstance(above, exp.With) else above.args.get("with_")
        if isinstance(clause, exp.With) and below is not clause:
            listed: Sequence[exp.CTE] = clause.expressions
            # An expression sees only those before it.
            seen = listed[: listed.index(below)] if isinstance(above, exp.With) else listed
            found = next((cte for cte in reversed(seen) if cte.alias.lower() == name), None)
            if found is not None:
                return found
        below = above
    return None


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("spark")
