"""What is the type of a literal in a query's text?"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from service.model.filters.keys import fits_type

NULL_TYPE = "null"


def literal_type(expression: exp.Expr) -> str | None:
    """Returns the type in Iceberg's spelling, `null` for NULL itself; None for any other expression.

    >>> from sqlglot import parse_one
    >>> [literal_type(parse_one(text, read="spark")) for text in ("-7", "3000000000", "'a'", "NULL")]
    ['int', 'long', 'string', 'null']
    >>> [literal_type(parse_one(text, read="spark")) for text in ("DATE '2000-01-01'", "1.5", "k")]
    ['date', None, None]
    """
    expression = expression.unnest()
    match expression:
        case exp.Neg() if isinstance(expression.this, exp.Literal) and not expression.this.is_string:
            return literal_type(expression.this)
        case exp.Literal() if expression.is_string:
            return "string"
        case exp.Literal() if expression.name.isdecimal():
            return next(
                (type_name for type_name in ("int", "long") if fits_type(type_name, int(expression.name))),
                None,
            )
        case exp.Boolean():
            return "boolean"
        case exp.Null():
            return NULL_TYPE
        case exp.Cast() if expression.to.this == exp.DType.DATE and isinstance(expression.this, exp.Literal):
            return "date" if not expression.args.get("format") else None
        case _:
            return None


def common_type(types: Iterable[str | None]) -> str | None:
    """Returns the one type of all, NULL aside; None where they differ, or where one is not known.

    >>> common_type(["int", "null", "int"]), common_type(["int", "string"]), common_type(["null"])
    ('int', None, None)
    """
    found = set(types) - {NULL_TYPE}
    return found.pop() if len(found) == 1 else None
