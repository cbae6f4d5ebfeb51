"""Writes the text of a view so that it means the same in every place."""

from __future__ import annotations

from collections.abc import Iterator, Set

from sqlglot import TokenType, exp, tokenize

from service.model.tables.sql import ParsedQuery, TableReference
from service.model.tables.tables import NOW
from service.model.tables.views import View

# A view has no parameters, but in a query with parameters they would be taken for the query's.
_PARAMETERS = {TokenType.PLACEHOLDER, TokenType.PARAMETER, TokenType.COLON, TokenType.QDCOLON}


def view_text(parsed: ParsedQuery, view: View, catalogs: Set[str]) -> str | None:
    """Returns the view's text with full table names; None if its meaning elsewhere is not certain.

    `parsed` is the view's text; `catalogs` are the names of catalogs, as opposed to schemas. Everything but
    the names stays byte for byte.

    >>> from service.model.tables.tables import TableName
    >>> from service.pruning.sql_text.parse import parse
    >>> sql = "WITH c AS (SELECT * FROM item) SELECT * FROM c, old.sales AS s"
    >>> view = View(TableName("lake", "shop", "v"), sql, "lake", ("shop",), ())
    >>> view_text(parse(sql), view, {"lake"})
    'WITH c AS (SELECT * FROM `lake`.`shop`.item) SELECT * FROM c, `lake`.old.sales AS s'
    """
    tables = [table for table in parsed.tree.find_all(exp.Table) if table.find_ancestor(exp.Hint) is None]
    # A function or IDENTIFIER(…) has no place in the text, but may name a table all the same.
    if len(tables) != len(parsed.references) or _has_parameters(parsed.sql):
        return None
    text = parsed.sql
    pairs = zip(tables, parsed.references, strict=True)
    for table, reference in sorted(pairs, key=lambda pair: pair[1].start, reverse=True):
        missing = _missing_parts(table, reference, parsed.tree, view, catalogs)
        if missing is None:
            return None
        text = (
            text[: reference.start]
            + "".join(f"{_quoted(part)}." for part in missing)
            + text[reference.start :]
        )
    return text


def _missing_parts(
    table: exp.Table, reference: TableReference, tree: exp.Query, view: View, catalogs: Set[str]
) -> tuple[str, ...] | None:
    if not reference.is_plain or reference.version != NOW:
        # It may have a version: Spark looks for such a table where the query is, not where the view is.
        return None
    match reference.parts:
        case (name,):
            return _missing_parts_of(name.lower(), table, tree, view)
        case (first, _) if first not in catalogs:
            return (view.catalog,)
        case (first, _, *_) if first in catalogs and len(reference.parts) > 2:
            return ()
        case _:
            return None


def _missing_parts_of(name: str, table: exp.Table, tree: exp.Query, view: View) -> tuple[str, ...] | None:
    """Returns the missing parts of a name of one part; none if it is surely a common table expression's."""
    same = [cte for cte in tree.find_all(exp.CTE) if cte.alias.lower() == name]
    if not same:
        return (view.catalog, *view.namespace)
    return () if len(same) == 1 and _is_seen(same[0], table, tree) else None


def _is_seen(expression: exp.CTE, table: exp.Table, tree: exp.Query) -> bool:
    """Whether the WITH of the whole text defines the expression before the place that names the table."""
    clause = tree.args.get("with_")
    if not isinstance(clause, exp.With) or clause.args.get("recursive"):
        return False
    defined = [id(cte) for cte in clause.expressions]
    if id(expression) not in defined:
        return False
    around = next(
        (defined.index(id(ancestor)) for ancestor in _ancestors(table) if id(ancestor) in defined),
        len(defined),
    )
    return defined.index(id(expression)) < around


def _ancestors(node: exp.Expr) -> Iterator[exp.Expr]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def _has_parameters(sql: str) -> bool:
    return any(token.token_type in _PARAMETERS for token in tokenize(sql, read="spark"))


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql("spark")
