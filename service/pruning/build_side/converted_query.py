"""The query for keys that are computed from a column, or cast."""

from __future__ import annotations

import json
from dataclasses import replace

from sqlglot import exp

from service.pruning.build_side.build_query import BuildQuery


def converted_query(
    query: BuildQuery, expression: exp.Expr | None, cast_to: str | None, is_null_safe: bool = False
) -> BuildQuery:
    """Returns a query for the expression over the column `k0` of the given query, then cast.

    NULL is not a key, unless `is_null_safe`.

    The engine evaluates the expression exactly as it does in the join.
    """
    if expression is None and cast_to is None:
        return query
    key = _of_k0(exp.column("k0") if expression is None else expression)
    if cast_to is not None:
        key = exp.cast(key, cast_to, dialect="spark")
    text = key.sql("spark")
    is_key = "" if is_null_safe else f" WHERE NOT {exp.paren(key).sql('spark')} IS NULL"
    sql = f"SELECT DISTINCT {text} AS `k0` FROM ({query.sql}) AS `keys`{is_key}"
    identity, series = (json.dumps([text, is_null_safe, of]) for of in (query.identity, query.series))
    return replace(query, sql=sql, identity=identity, series=series if query.series else "", family="")


def _of_k0(expression: exp.Expr) -> exp.Expr:
    def renamed(node: exp.Expr) -> exp.Expr:
        return exp.column("k0", quoted=True) if isinstance(node, exp.Column) else node

    return expression.copy().transform(renamed)
