"""From a query's text to its tree and the places of its table references."""

from __future__ import annotations

from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from service.model.sql import ParsedQuery, TableReference

_PLAIN = {"this", "db", "catalog", "alias"}


def parse(sql: str) -> ParsedQuery | None:
    """The query as a tree; None when it is no query that can be read here.

    >>> parsed = parse("SELECT * FROM lake.tpcds.item AS i")
    >>> [reference] = parsed.references
    >>> reference.parts, parsed.sql[reference.start : reference.end], reference.alias
    (('lake', 'tpcds', 'item'), 'lake.tpcds.item', 'i')
    >>> parse("SELECT FROM WHERE") is None
    True
    """
    if "|>" in sql:
        # sqlglot puts the steps of a pipe into one SELECT, also a LIMIT that comes before a join.
        return None
    try:
        trees = sqlglot.parse(sql, read="spark")
    except (SqlglotError, RecursionError):
        return None
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        return None
    return ParsedQuery(sql, trees[0], tuple(_references(trees[0], sql)))


def _references(tree: exp.Query, sql: str) -> Iterator[TableReference]:
    for table in tree.find_all(exp.Table):
        reference = _reference(table, sql)
        if reference is not None and table.find_ancestor(exp.Hint) is None:
            yield reference


def _reference(table: exp.Table, sql: str) -> TableReference | None:
    identifiers = [each for key in ("catalog", "db", "this") if (each := table.args.get(key)) is not None]
    if not all(_is_at_its_place(each, sql) for each in identifiers):
        return None
    alias = table.args.get("alias")
    return TableReference(
        parts=tuple(each.name for each in identifiers),
        start=identifiers[0].meta["start"],
        end=identifiers[-1].meta["end"] + 1,
        alias=alias.name if alias is not None else None,
        is_plain=all(key in _PLAIN for key, value in table.args.items() if value)
        and not table.alias_column_names,
    )


def _is_at_its_place(identifier: exp.Expression, sql: str) -> bool:
    """Whether the text at the position really is the identifier: those in hints have other offsets."""
    start, end = identifier.meta.get("start"), identifier.meta.get("end")
    if not isinstance(identifier, exp.Identifier) or start is None or end is None:
        return False
    text = sql[start : end + 1]
    return text in (identifier.name, f"`{identifier.name.replace('`', '``')}`")
