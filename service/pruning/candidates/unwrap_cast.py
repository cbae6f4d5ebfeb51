"""Casts around a probe's column that lose nothing, one after another, or only the time of a day."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from service.model.filters.filtering import KeySpan
from service.model.filters.keys import digits_of

_TYPES = {
    exp.DType.INT: "int",
    exp.DType.BIGINT: "long",
    exp.DType.DATE: "date",
    exp.DType.TEXT: "string",
    exp.DType.TIMESTAMPTZ: "timestamptz",
    exp.DType.TIMESTAMPNTZ: "timestamp",
}


# Each of their values has one text, and no two have the same.
_WITH_A_TEXT = ("int", "long", "date")


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """What a column is compared as, and which of its values one such value stands for.

    All of these values are those of the type `holds` as well, whatever they have been cast to since.
    """

    type_name: str
    holds: str
    span: KeySpan = KeySpan.VALUE


def unwrap_cast(expression: exp.Expr, type_name: str, is_utc: bool) -> Unwrapped | None:
    """The casts of a column of this type, if they are exact, or turn moments into their days.

    `is_utc`: the days of the session are those of UTC. None for any other expression.

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
    if _keeps_values(inner, target, is_utc):
        return replace(inner, type_name=target)
    if target == "date" and inner.type_name in ("timestamp", "timestamptz"):
        is_sure = is_utc or inner.type_name == "timestamp"
        return Unwrapped("date", "date", KeySpan.DAY if is_sure else KeySpan.DAY_ANYWHERE)
    return None


def _keeps_values(inner: Unwrapped, target: str, is_utc: bool) -> bool:
    """Whether the values that were cast before are told apart by the next cast, which never fails."""
    if inner.type_name == target:
        return True
    if inner.span is not KeySpan.VALUE:
        return False
    if target == "string":
        return inner.type_name in _WITH_A_TEXT
    if inner.holds == "date":
        return target in ("date", "timestamp") or (is_utc and target == "timestamptz")
    return _is_exact(inner.holds, target)


def cast_target(expression: exp.Expr) -> str | None:
    """The type, in Iceberg's spelling, that the expression casts to; None when it is no cast to one of those.

    >>> from sqlglot import parse_one
    >>> cast_target(parse_one("CAST(k AS DECIMAL(9, 2))", read="spark"))
    'decimal(9, 2)'
    """
    if isinstance(expression, exp.TsOrDsToDate):
        # With a format, it is no cast.
        return None if expression.args.get("format") else "date"
    if not isinstance(expression, exp.Cast) or expression.args.get("format"):
        return None
    kind = expression.to
    if kind.args.get("collate"):
        # Text of another collation: what is equal there is not the same text.
        return None
    if kind.this == exp.DType.DECIMAL:
        sizes = [each.name for each in kind.expressions]
        return f"decimal({sizes[0]}, {sizes[1]})" if len(sizes) == 2 else None
    return None if kind.expressions else _TYPES.get(kind.this)


def _is_exact(source: str, target: str) -> bool:
    """Whether every value of the one type is one of the other, and compares as it did."""
    if source == target:
        return True
    digits, others = digits_of(source), digits_of(target)
    if digits is None or others is None or target == "int":
        return False
    if target == "long" and not source.startswith(("int", "long")):
        # Spark counts twenty digits for a BIGINT; only numbers of eighteen are all among its values.
        others = (18, 0)
    return digits[0] <= others[0] and digits[1] <= others[1]
