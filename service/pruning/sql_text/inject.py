"""Writes the predicates into the query's text; everything around them stays byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from service.model.tables.sql import ParsedQuery, TableReference, TextSpan

NO_EDITS: Mapping[TextSpan, str] = {}


@dataclass(frozen=True, slots=True)
class TableSubstitution:
    """The replacement of a table reference: the table at a snapshot, with conditions joined by AND.

    `options` are read options of the table. With a `relation`, the view of that name is read in the table's
    place. `snapshot_id` None: the table has no snapshots.
    """

    snapshot_id: int | None
    conditions: tuple[exp.Expr, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    relation: str | None = None


def inject(
    parsed: ParsedQuery,
    substitutions: Mapping[int, TableSubstitution],
    edits: Mapping[TextSpan, str] = NO_EDITS,
) -> str:
    """Returns the text with each table whose name ends at one of these positions filtered, or only pinned.

    The text's own version of such a table is removed. `edits` are other parts of the text with their
    replacements; none of them overlaps such a table reference.

    >>> from service.pruning.sql_text.parse import parse
    >>> parsed = parse("SELECT 1 FROM f JOIN d ON f.k = d.k")
    >>> only = exp.condition("k = 1")
    >>> inject(parsed, {15: TableSubstitution(7, (only,)), 22: TableSubstitution(8)})
    'SELECT 1 FROM (SELECT * FROM f VERSION AS OF 7 WHERE k = 1) AS `f` JOIN d VERSION AS OF 8 ON f.k = d.k'
    """
    text = parsed.sql
    replaced = {
        reference.span: _substituted(parsed.sql, reference, substitutions[reference.end])
        for reference in parsed.references
        if reference.end in substitutions
    }
    for span, written in sorted((replaced | dict(edits)).items(), reverse=True):
        text = text[: span.start] + written + text[span.end :]
    return text


def _substituted(sql: str, reference: TableReference, substitution: TableSubstitution) -> str:
    name = sql[reference.start : reference.end]
    alias = "" if reference.alias is not None else f" AS {_quoted(reference.known_as)}"
    if substitution.relation is not None:
        return _quoted(substitution.relation) + alias
    pinned = name if substitution.snapshot_id is None else f"{name} VERSION AS OF {substitution.snapshot_id}"
    if not substitution.conditions and not substitution.options:
        return pinned if reference.selector is None else pinned + alias
    options = ", ".join(f"`{key}`='{value}'" for key, value in sorted(substitution.options.items()))
    source = f"{pinned} WITH ({options})" if options else pinned
    condition = exp.and_(*substitution.conditions).sql("spark") if substitution.conditions else ""
    where = f" WHERE {condition}" if condition else ""
    return f"(SELECT * FROM {source}{where}){alias}"


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("spark")
