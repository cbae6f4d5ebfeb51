"""Names those columns of derived tables that have no name in the text, as Spark names them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from sqlglot import exp

from service.pruning.name_resolution.is_supported_syntax import UNNAMED, relation_names


def name_unnamed(tree: exp.Query) -> None:
    """Gives each column of derived tables and lists of values a name, if it has none.

    Spark uses the name of a column, also in parentheses or in one cast, and `col1`, `col2` and so on for the
    values of a list. Its names for anything else are not known here. Such a column gets a name that no
    supported text has.

    >>> from sqlglot import parse_one
    >>> tree = parse_one("SELECT 1 FROM (SELECT CAST((a) AS INT), ((b)) FROM t)", read="spark")
    >>> name_unnamed(tree)
    >>> tree.sql("spark")
    'SELECT 1 FROM (SELECT CAST((a) AS INT) AS a, ((b)) AS b FROM t)'
    """
    # A list, for names are nodes as well.
    for values in list(tree.find_all(exp.Values, exp.Select)):
        if isinstance(values, exp.Values):
            _name_values(values)
        elif isinstance(values, exp.Select) and _is_relation(values):
            values.set("expressions", list(_named(values)))


def are_named(names: Iterable[str]) -> bool:
    """Whether Spark has the same names for the columns."""
    return not any(name.startswith(UNNAMED) for name in names)


def _name_values(values: exp.Values) -> None:
    if values.alias_column_names or not values.expressions:
        return
    first = values.expressions[0]
    row = first.expressions if isinstance(first, exp.Tuple) else [first]
    # To Spark, a single struct is a row, and so are parentheses in parentheses.
    is_reported = len(row) > 1 or not isinstance(row[0].unnest(), exp.Struct | exp.Tuple)
    start = "col" if is_reported else UNNAMED
    alias = values.args.get("alias") or exp.TableAlias()
    names = [exp.to_identifier(f"{start}{place}", quoted=not is_reported) for place in range(1, len(row) + 1)]
    alias.set("columns", names)
    values.set("alias", alias)


def _is_relation(select: exp.Select) -> bool:
    query: exp.Expr = select
    while isinstance(query.parent, exp.SetOperation | exp.Subquery):
        if isinstance(query.parent, exp.SetOperation) and query.arg_key != "this":
            # The first branch names the columns of all.
            return False
        query = query.parent
    return isinstance(query.parent, exp.From | exp.Join | exp.CTE | exp.Lateral)


def _named(select: exp.Select) -> Iterator[exp.Expr]:
    relations = relation_names(select)
    for place, column in enumerate(select.expressions):
        if isinstance(column, exp.Alias | exp.Aliases | exp.Column | exp.Star | exp.Dot):
            yield column
        else:
            own = _own_name(column, relations)
            name = exp.to_identifier(f"{UNNAMED}{place}", quoted=True) if own is None else own.copy()
            yield exp.Alias(this=column, alias=name)


def _own_name(column: exp.Expr, relations: Collection[str]) -> exp.Identifier | None:
    inner = column.unnest()
    if isinstance(inner, exp.Cast):
        inner = inner.this.unnest()
        # A cast of a field of a struct is named by its text.
        if isinstance(inner, exp.Column) and inner.table and inner.table.lower() not in relations:
            return None
    return inner.this if isinstance(inner, exp.Column) and isinstance(inner.this, exp.Identifier) else None
