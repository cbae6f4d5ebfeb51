"""The texts of a condition in one form, so that conditions which are written differently are found equal."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from service.pruning.conditions.spelled import spelled

_MIRRORED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.EQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}
_BETWEEN_PARTS = {"this", "low", "high"}
_LIST_PARTS = {"this", "expressions"}
# At another place, the engine may read these together with what is beside them.
_BIND_LOOSELY = (exp.Predicate, exp.Connector, exp.Not, exp.Query)
# Longer numbers may be decimals. Then the first numbers of a list decide in which type texts are compared.
_DIGITS_OF_INTEGERS = 18
# Longer lists may be folded into one text, and to write each of their values takes long.
SORTED_AT_MOST = 100


def normal_conjuncts(condition: exp.Expr) -> Iterator[str]:
    """Yields the texts of the conditions that are joined by AND, without changing the given one.

    Only forms that Spark itself takes for the same are changed: it makes two comparisons of a BETWEEN, and
    the order of a list or of the sides of a comparison means nothing.

    >>> from sqlglot import parse_one
    >>> def normal(text):
    ...     return list(normal_conjuncts(parse_one(text, read="spark")))
    >>> normal("a BETWEEN 1 AND 2") == normal("(a >= 1 AND 2 >= a)")
    True
    >>> normal("5 > a"), normal("a IN (2, 1, 2)"), normal("a = 1 OR b = 2")
    (['`a` < 5'], ['`a` IN (1, 2)'], ['(`a` = 1 OR `b` = 2)'])
    >>> normal("a IN (2, 1.5)"), normal("a IN (DATE '2001-01-02', DATE '2001-01-01')")
    (['`a` IN (2, 1.5)'], ["`a` IN (CAST('2001-01-01' AS DATE), CAST('2001-01-02' AS DATE))"])
    """
    if isinstance(condition, exp.Paren):
        yield from normal_conjuncts(condition.this)
        return
    match condition:
        case exp.And():
            # A tree of thousands of conditions is as deep, and this walks through it in a loop.
            for part in condition.flatten():
                yield from normal_conjuncts(part)
        case exp.Between() if _has_only(condition, _BETWEEN_PARTS) and _is_range_of_column(condition):
            column = condition.this
            yield _text(exp.GTE(this=column.copy(), expression=condition.args["low"].copy()))
            yield _text(exp.LTE(this=column.copy(), expression=condition.args["high"].copy()))
        case exp.In() if _has_values_of_one_kind(condition):
            yield _list_text(condition)
        case exp.Binary() if type(condition) in _MIRRORED:
            yield _text(_with_column_first(condition))
        case _:
            yield _text(condition)


def _with_column_first(comparison: exp.Binary) -> exp.Expr:
    column, other = comparison.expression, comparison.this
    if not _is_column(column) or other.find(exp.Column) or not _stands_alone(other):
        return comparison
    return _MIRRORED[type(comparison)](this=column.copy(), expression=other.copy())


def _is_range_of_column(condition: exp.Between) -> bool:
    return _is_column(condition.this) and all(_stands_alone(condition.args[end]) for end in ("low", "high"))


def _stands_alone(node: exp.Expr) -> bool:
    """Whether it means the same on either side of a comparison."""
    return node.find(*_BIND_LOOSELY) is None


def _has_values_of_one_kind(condition: exp.In) -> bool:
    """Whether the order of the list cannot decide about the type that all of its values are compared in."""
    values = condition.expressions
    if not _has_only(condition, _LIST_PARTS) or len(values) > SORTED_AT_MOST:
        return False
    kinds = set(map(_kind, values))
    return len(kinds) == 1 and None not in kinds


def _kind(value: exp.Expr) -> str | None:
    match value:
        case exp.Neg():
            return "integer" if _kind(value.this) == "integer" else None
        case exp.Literal() if value.is_string:
            return "text"
        case exp.Literal() if value.name.isdecimal() and len(value.name) <= _DIGITS_OF_INTEGERS:
            return "integer"
        case exp.Cast() if value.to.this == exp.DType.DATE and _kind(value.this) == "text":
            return "date"
        case _:
            return None


def _list_text(condition: exp.In) -> str:
    listed = {spelled(value, identify=True): value for value in condition.expressions}
    ordered = [listed[text].copy() for text in sorted(listed)]
    return _text(exp.In(this=condition.this.copy(), expressions=ordered))


def _is_column(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column)


def _has_only(node: exp.Expr, parts: set[str]) -> bool:
    return all(key in parts for key, value in node.args.items() if value)


def _text(condition: exp.Expr) -> str:
    text = spelled(condition, identify=True)
    return f"({text})" if isinstance(condition, exp.Connector) else text
