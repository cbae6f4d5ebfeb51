"""Which tables of a query may grow so that its answer grows by theirs?"""

from __future__ import annotations

from sqlglot import exp

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.model.tables.sql import ParsedQuery, TableReference
from service.model.tables.tables import NOW

_KNOWN = frozenset({"this", "expression", "on", "side", "kind", "joins"})
_DERIVED = frozenset({"this", "alias"})
_LINEAR = frozenset({"expressions", "from_", "joins", "where"})
"""Each row that comes out of such a SELECT comes from one row of each of its tables."""
_INNER = {"", "INNER", "CROSS"}
_KEPT_LEFT = {"", "OUTER", "SEMI", "ANTI"}


def growing_tables(parsed: ParsedQuery) -> tuple[TableReference, ...]:
    """Returns the references where the join of old and new rows together is that of each, one after another.

    These are the tables of inner joins, and those on the preserved side of a left join. A derived table that
    only joins, filters and projects grows by its own tables.

    Raises:
        NotRefreshable: the query has joins that are not supported, or reads versions or parts of tables.

    >>> from service.pruning.sql_text.parse import parse
    >>> parsed = parse("SELECT count(*) FROM a JOIN (SELECT k FROM b) ON a.k = b.k LEFT JOIN c ON a.k = c.k")
    >>> [reference.parts for reference in growing_tables(parsed)]
    [('a',), ('b',)]
    """
    read: list[exp.Expr] = []
    tables = _growing(parsed.tree, read)
    references = parsed.references
    named = [node for node in read if isinstance(node, exp.Table)]
    is_all = all(any(node is other for other in read) for node in parsed.tree.find_all(exp.Table, exp.Select))
    if not is_all or len(references) != len(named):
        raise NotRefreshable(RefreshOutcome.SUBQUERY)
    if not all(_is_plain(reference) for reference in references):
        raise NotRefreshable(RefreshOutcome.TABLES)
    ends = {table.parts[-1].meta.get("end", -1) + 1 for table in tables}
    return tuple(reference for reference in references if reference.end in ends)


def _growing(select: exp.Expr, read: list[exp.Expr]) -> list[exp.Table]:
    """Returns the tables of a SELECT that may grow; adds it and all that it reads to `read`."""
    source = select.args.get("from_")
    if not isinstance(select, exp.Select) or source is None or select.args.get("laterals"):
        raise NotRefreshable(RefreshOutcome.NOT_ONE_SELECT)
    read.append(select)
    tables = _tables_of(source.this, read)
    for join in select.args.get("joins") or ():
        joined = _tables_of(join.this, read)
        if _is_kept(join):
            tables += joined
    return tables


def _tables_of(source: exp.Expr, read: list[exp.Expr]) -> list[exp.Table]:
    if isinstance(source, exp.Table):
        if source.args.get("joins"):
            raise NotRefreshable(RefreshOutcome.JOIN)
        read.append(source)
        return [source]
    derived = source.this
    if isinstance(derived, exp.Table):
        raise NotRefreshable(RefreshOutcome.JOIN)
    is_derived = isinstance(source, exp.Subquery) and not _has_others(source, _DERIVED)
    is_linear = isinstance(derived, exp.Select) and not _has_others(derived, _LINEAR)
    if not is_derived or not is_linear or derived.args.get("from_") is None:
        raise NotRefreshable(RefreshOutcome.SUBQUERY)
    return _growing(derived, read)


def _has_others(node: exp.Expr, known: frozenset[str]) -> bool:
    return any(value for key, value in node.args.items() if key not in known)


def _is_kept(join: exp.Join) -> bool:
    """Whether the joined table may grow.

    Raises:
        NotRefreshable: with such a join, no table before it may grow either.
    """
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    if _has_others(join, _KNOWN):
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
