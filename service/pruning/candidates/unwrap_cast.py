"""Casts of a probe's column that can be undone: they lose nothing, or only the time of the day."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from service.model.filters.dynamic_filter import KeySpan
from service.model.filters.keys import digits_of

_TYPES = {
    exp.DType.INT: "int",
    exp.DType.BIGINT: "long",
    exp.DType.DATE: "date",
    exp.DType.TEXT: "string",
    exp.DType.TIMESTAMPTZ: "timestamptz",
    exp.DType.TIMESTAMPNTZ: "timestamp",
}


# Types whose values each have one text, which no other value has.
_WITH_A_TEXT = ("int", "long", "date")


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """The type that a column is compared as, and the span of its values that one such value stands for.

    Every value is also a value of the type `value_type`, whatever it has been cast to since.
    """

    type_name: str
    value_type: str
    span: KeySpan = KeySpan.VALUE


def unwrap_cast(expression: exp.Expr, type_name: str, is_utc: bool) -> Unwrapped | None:
    """Undoes the casts of a column of this type, if each is exact or turns moments into their days.

    `is_utc`: the session's time zone is UTC. Returns None for any other expression.

    >>> from sqlglot import parse_one
    >>> unwrap_cast(parse_one("CAST(k AS BIGINT)", read="spark"), "int", is_utc=True).type_name
    'long'
    >>> unwrap_cast(parse_one("to_date(k)", read="spark"), "timestamptz", is_utc=True).span.value
    'DAY'
    >>> unwrap_cast(parse_one("CAST(k AS INT)", read="spark"), "long", is_utc=True)
    >>> unwrap_cast(parse_one("CAST(CAST(k AS BIGINT) AS INT)", read="spark"), "int", is_utc=True).type_name
    'int'
    >>> unwrap_cast(parse_one("CAST(k AS BIGINT)", read="spark"), "decimal(19, 0)", is_utc=True)
    """
    expression = expression.unnest()
    if isinstance(expression, exp.Column):
        return Unwrapped(type_name, type_name)
    target = cast_target(expression)
    inner = unwrap_cast(expression.this, type_name, is_utc) if target is not None else None
    if inner is None or target is None:
        return None
    if _preserves_values(inner, target, is_utc):
        return replace(inner, type_name=target)
    if target == "date" and inner.type_name in ("timestamp", "timestamptz"):
        is_sure = is_utc or inner.type_name == "timestamp"
        return Unwrapped("date", "date", KeySpan.DAY if is_sure else KeySpan.DAY_ANYWHERE)
    return None


def _preserves_values(inner: Unwrapped, target: str, is_utc: bool) -> bool:
    """Whether the next cast maps distinct values to distinct values, and never fails."""
    if inner.type_name == target:
        return True
    if inner.span is not KeySpan.VALUE:
        return False
    if target == "string":
        return inner.type_name in _WITH_A_TEXT
    if inner.value_type == "date":
        return target in ("date", "timestamp") or (is_utc and target == "timestamptz")
    return _is_exact(inner.value_type, target)


def cast_target(expression: exp.Expr) -> str | None:
    """Returns the type that the expression casts to, in Iceberg's spelling; None for any other expression.

    >>> from sqlglot import parse_one
    >>> cast_target(parse_one("CAST(k AS DECIMAL(9, 2))", read="spark"))
    'decimal(9, 2)'
    """
    if isinstance(expression, exp.TsOrDsToDate):
        # With a format, it is not a cast.
        return None if expression.args.get("format") else "date"
    if not isinstance(expression, exp.Cast) or expression.args.get("format"):
        return None
    kind = expression.to
    if kind.args.get("collate"):
        # In another collation, texts that differ may be equal.
        return None
    if kind.this == exp.DType.DECIMAL:
        sizes = [parameter.name for parameter in kind.expressions]
        return f"decimal({sizes[0]}, {sizes[1]})" if len(sizes) == 2 else None
    return None if kind.expressions else _TYPES.get(kind.this)


def _is_exact(source: str, target: str) -> bool:
    """Whether every value of `source` is a value of `target`, and compares as before."""
    if source == target:
        return True
    digits, others = digits_of(source), digits_of(target)
    if digits is None or others is None or target == "int":
        return False
    if target == "long" and not source.startswith(("int", "long")):
        # Spark counts 20 digits for a BIGINT, but only numbers of up to 18 digits all fit.
        others = (18, 0)
    return digits[0] <= others[0] and digits[1] <= others[1]
