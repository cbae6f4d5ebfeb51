"""Is a condition one that may be written anew without changing what it means?"""

from __future__ import annotations

from sqlglot import exp

_CONDITIONS: frozenset[type[exp.Expr]] = frozenset(
    {
        exp.Add,
        exp.And,
        exp.Between,
        exp.Boolean,
        exp.Case,
        exp.Cast,
        exp.Coalesce,
        exp.Column,
        exp.DataType,
        exp.DataTypeParam,
        exp.EQ,
        exp.GT,
        exp.GTE,
        exp.Identifier,
        exp.If,
        exp.In,
        exp.Interval,
        exp.Is,
        exp.LT,
        exp.LTE,
        exp.Like,
        exp.Literal,
        exp.Lower,
        exp.Mul,
        exp.NEQ,
        exp.Neg,
        exp.Not,
        exp.Null,
        exp.NullSafeEQ,
        exp.Or,
        exp.Paren,
        exp.Placeholder,
        exp.Sub,
        exp.Substring,
        exp.TryCast,
        exp.Upper,
        exp.Var,
    }
)

_RELATIONS: frozenset[type[exp.Expr]] = frozenset(
    {exp.Alias, exp.From, exp.Join, exp.Select, exp.Subquery, exp.Table, exp.TableAlias, exp.Where}
)

_TYPES = {
    exp.DType.TINYINT,
    exp.DType.SMALLINT,
    exp.DType.INT,
    exp.DType.BIGINT,
    exp.DType.DATE,
    exp.DType.DECIMAL,
    exp.DType.TEXT,
}


def is_faithful(condition: exp.Expr) -> bool:
    """Whether everything in the condition is deterministic and rendered as it was meant.

    An allow-list: what is not on it only makes a filter wider, so the list need not be complete.

    >>> from sqlglot import parse_one
    >>> is_faithful(parse_one("d_year = 2000 AND d_moy IN (1, 2)", read="spark"))
    True
    >>> is_faithful(parse_one("d_year > rand() * 2000", read="spark"))
    False
    """
    return all(type(each) in _CONDITIONS and _is_plain(each) for each in condition.walk())


def is_faithful_relation(query: exp.Expr) -> bool:
    """The same of a SELECT that only projects, joins and filters."""
    allowed = _CONDITIONS | _RELATIONS
    return all(type(each) in allowed and _is_plain(each) for each in query.walk())


def _is_plain(node: exp.Expr) -> bool:
    if isinstance(node, exp.Literal):
        # Escapes are where two readers of a text differ first.
        return not node.is_string or (node.name.isprintable() and not set(node.name) & set("\\'\""))
    if isinstance(node, exp.DataType):
        return node.this in _TYPES
    if isinstance(node, exp.Placeholder):
        return bool(node.args.get("this"))
    if isinstance(node, exp.Between):
        return not node.args.get("symmetric")
    if isinstance(node, exp.In):
        return not any(value for key, value in node.args.items() if key not in ("this", "expressions"))
    if isinstance(node, exp.Table):
        return all(
            not value for key, value in node.args.items() if key not in ("this", "db", "catalog", "alias")
        )
    if isinstance(node, exp.Select):
        clauses = ("expressions", "from_", "joins", "where", "kind")
        return all(not value for key, value in node.args.items() if key not in clauses)
    return True
