"""Which tables of a query may grow so that its answer grows by theirs?"""

from __future__ import annotations

from sqlglot import exp

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.model.tables.sql import ParsedQuery, TableReference
from service.model.tables.tables import NOW

_KNOWN = {"this", "expression", "on", "side", "kind", "joins"}
_INNER = {"", "INNER", "CROSS"}
_KEPT_LEFT = {"", "OUTER", "SEMI", "ANTI"}


def growing_tables(parsed: ParsedQuery) -> tuple[TableReference, ...]:
    """Returns the references where the join of old and new rows together is that of each, one after another.

    These are the tables of inner joins, and those on the preserved side of a left join.

    Raises:
        NotRefreshable: the query has joins that are not supported, or reads versions or parts of tables.

    >>> from service.pruning.sql_text.parse import parse
    >>> parsed = parse("SELECT count(*) FROM a JOIN b ON a.k = b.k LEFT JOIN c ON a.k = c.k")
    >>> [reference.parts for reference in growing_tables(parsed)]
    [('a',), ('b',)]
    """
    select = parsed.tree
    source = select.args.get("from_") or select.args.get("from")
    if not isinstance(select, exp.Select) or source is None or select.args.get("laterals"):
        raise NotRefreshable(RefreshOutcome.NOT_ONE_SELECT)
    if not isinstance(source.this, exp.Table):
        raise NotRefreshable(RefreshOutcome.SUBQUERY)
    tables = [source.this]
    for join in select.args.get("joins") or ():
        if _is_kept(join):
            tables.append(join.this)
    known = {id(table) for table in select.find_all(exp.Table)}
    references = parsed.references
    joined = 1 + len(select.args.get("joins") or ())
    if len(known) != joined or len(references) != joined:
        raise NotRefreshable(RefreshOutcome.SUBQUERY)
    if not all(_is_plain(reference) for reference in references):
        raise NotRefreshable(RefreshOutcome.TABLES)
    ends = {table.parts[-1].meta.get("end", -1) + 1 for table in tables if isinstance(table, exp.Table)}
    return tuple(reference for reference in references if reference.end in ends)


def _is_kept(join: exp.Join) -> bool:
    """Whether the joined table may grow.

    Raises:
        NotRefreshable: with such a join, no table before it may grow either.
    """
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    has_others = any(value for key, value in join.args.items() if key not in _KNOWN)
    if has_others or not isinstance(join.this, exp.Table) or join.this.args.get("joins"):
        raise NotRefreshable(RefreshOutcome.JOIN)
    if side == "LEFT" and kind in _KEPT_LEFT:
        return False
    if not side and kind in ("SEMI", "ANTI"):
        return False
    if side or kind not in _INNER:
        raise NotRefreshable(RefreshOutcome.JOIN)
    return True


def _is_plain(reference: TableReference) -> bool:
    return reference.is_plain and reference.version == NOW and reference.selector is None
