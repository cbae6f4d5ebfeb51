"""What is the type of the keys that a build side computes from one column?"""

from __future__ import annotations

from sqlglot import exp

from service.pruning.candidates.unwrap_cast import cast_target


def key_type(expression: exp.Expr, column_type: str) -> str | None:
    """Returns the type in Iceberg's spelling; None when the expression is not safe to render.

    The engine evaluates the expression, so only its type must be known here. Every accepted expression is
    NULL where its column is NULL.

    >>> from sqlglot import parse_one
    >>> key_type(parse_one("CAST(k AS BIGINT) + 1", read="spark"), "string")
    'long'
    >>> key_type(parse_one("rand()"), "int")
    """
    expression = expression.unnest()
    match expression:
        case exp.Column():
            return column_type
        case exp.Cast() | exp.TsOrDsToDate():
            target = cast_target(expression)
            return target if target and key_type(expression.this, column_type) else None
        case exp.Add() | exp.Sub() | exp.Mul():
            sides = {key_type(side, column_type) for side in (expression.left, expression.right)}
            return "long" if sides <= {"int", "long"} else None
        case exp.Upper() | exp.Lower():
            return "string" if key_type(expression.this, column_type) == "string" else None
        case exp.Literal() if not expression.is_string and expression.name.isdecimal():
            return "long"
        case _:
            return None
