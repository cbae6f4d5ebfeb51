"""Is a condition safe to render: does its meaning stay the same when it is written again?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sqlglot import exp

_CONDITIONS: frozenset[type[exp.Expr]] = frozenset(
    {
        exp.Abs,
        exp.Add,
        exp.AddMonths,
        exp.All,
        exp.And,
        exp.Any,
        exp.Between,
        exp.Boolean,
        exp.Case,
        exp.Cast,
        exp.Coalesce,
        exp.Column,
        exp.DPipe,
        exp.DataType,
        exp.DataTypeParam,
        exp.DateDiff,
        exp.Day,
        exp.DayOfMonth,
        exp.DayOfWeek,
        exp.DayOfYear,
        exp.Div,
        exp.EQ,
        exp.Exists,
        exp.GT,
        exp.GTE,
        exp.Greatest,
        exp.ILike,
        exp.Identifier,
        exp.If,
        exp.In,
        exp.IntDiv,
        exp.Interval,
        exp.Is,
        exp.LT,
        exp.LTE,
        exp.LastDay,
        exp.Least,
        exp.Left,
        exp.Length,
        exp.Like,
        exp.Literal,
        exp.Lower,
        exp.Mod,
        exp.Month,
        exp.Mul,
        exp.NEQ,
        exp.Neg,
        exp.Not,
        exp.Null,
        exp.NullSafeEQ,
        exp.Nullif,
        exp.Nvl2,
        exp.Or,
        exp.Paren,
        exp.Placeholder,
        exp.Quarter,
        exp.RegexpLike,
        exp.Right,
        exp.StartsWith,
        exp.Sub,
        exp.Substring,
        exp.TryCast,
        exp.TsOrDsAdd,
        exp.TsOrDsToDate,
        exp.Tuple,
        exp.Upper,
        exp.Var,
        exp.Year,
    }
)

# Only in subqueries: these work on rows, not on the values of one row.
_RELATIONS: frozenset[type[exp.Expr]] = frozenset(
    {
        exp.Alias,
        exp.Count,
        exp.Distinct,
        exp.From,
        exp.Group,
        exp.Having,
        exp.Join,
        exp.Max,
        exp.Min,
        exp.Select,
        exp.Star,
        exp.Subquery,
        exp.Table,
        exp.TableAlias,
        exp.Version,
        exp.Where,
    }
)
_IN_QUERIES = _CONDITIONS | _RELATIONS

_TYPES = {
    exp.DType.BOOLEAN,
    exp.DType.TINYINT,
    exp.DType.SMALLINT,
    exp.DType.INT,
    exp.DType.BIGINT,
    exp.DType.DATE,
    exp.DType.DECIMAL,
    exp.DType.TEXT,
}

# The parts that a node may have. Others change its meaning, or how another dialect spells it.
_PARTS: Mapping[type[exp.Expr], frozenset[str]] = {
    kind: frozenset(parts.split())
    for kind, parts in (
        (exp.AddMonths, "this expression"),
        (exp.All, "this"),
        (exp.Any, "this"),
        (exp.Coalesce, "this expressions"),
        (exp.Count, "this big_int"),
        (exp.DPipe, "this expression safe"),
        (exp.DataType, "this expressions nested"),
        (exp.DateDiff, "this expression"),
        (exp.Distinct, "expressions"),
        (exp.Exists, "this"),
        (exp.From, "this"),
        (exp.Group, "expressions"),
        (exp.In, "this expressions query"),
        (exp.Join, "this on kind side"),
        (exp.LastDay, "this"),
        (exp.Like, "this expression negate"),
        (exp.ILike, "this expression negate"),
        (exp.Max, "this"),
        (exp.Min, "this"),
        (exp.RegexpLike, "this expression"),
        (exp.Select, "expressions from_ joins where distinct group having"),
        (exp.Star, ""),
        (exp.Subquery, "this alias"),
        (exp.Table, "this db catalog alias version"),
        (exp.TableAlias, "this"),
        (exp.Tuple, "expressions"),
        (exp.Version, "this kind expression"),
    )
}
_READS_DATES = (
    exp.DateDiff,
    exp.Day,
    exp.DayOfMonth,
    exp.DayOfWeek,
    exp.DayOfYear,
    exp.Month,
    exp.Year,
)
_PATTERNS = (exp.ILike, exp.Like)
_QUANTIFIERS = (exp.All, exp.Any)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_SUFFIXES = (exp.Between, exp.ILike, exp.In, exp.Is, exp.Like, exp.Not, exp.RegexpLike)
# Under any other node, an operator needs parentheses where a function does not.
_AROUND_PATTERNS = (exp.Connector, exp.Having, exp.If, exp.Join, exp.Not, exp.Paren, exp.Where)
_OPERATORS = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def is_safe_to_render(condition: exp.Expr) -> bool:
    """Whether everything in the condition is deterministic, and keeps its meaning when it is rendered.

    This is an allow-list. It need not be complete: to leave a condition out only makes a filter wider. It
    does not check whether a subquery is uncorrelated, and what it reads.

    >>> from sqlglot import parse_one
    >>> is_safe_to_render(parse_one("d_year = 2000 AND d_moy IN (1, 2)", read="spark"))
    True
    >>> is_safe_to_render(parse_one("d_year > rand() * 2000", read="spark"))
    False
    """
    for expression in condition.walk(prune=_is_query):
        if _is_query(expression):
            if not all(type(node) in _IN_QUERIES and _is_plain(node) for node in expression.walk()):
                return False
        elif type(expression) not in _CONDITIONS or not _is_plain(expression):
            return False
    return True


def _is_query(node: exp.Expr) -> bool:
    return isinstance(node, exp.Query)


def _is_plain(node: exp.Expr) -> bool:
    parts, rule = _PARTS.get(type(node)), _RULES.get(type(node))
    if parts is not None and any(value for key, value in node.args.items() if key not in parts):
        return False
    return rule is None or rule(node)


def _is_plain_literal(node: exp.Expr) -> bool:
    # Escapes are where two parsers of a text differ first.
    return not node.is_string or (node.name.isprintable() and not set(node.name) & set("\\'\""))


def _is_plain_cast(node: exp.Expr) -> bool:
    # DATE 'today' is another day tomorrow.
    is_text_of_date = node.args["to"].this == exp.DType.DATE and isinstance(node.this, exp.Literal)
    return not is_text_of_date or bool(_DAY.fullmatch(node.this.name))


def _is_read_as_date(node: exp.Expr) -> bool:
    # The conversion is not rendered, because these functions convert anything to a date by themselves.
    return isinstance(node.parent, _READS_DATES) and isinstance(node.this, exp.Column)


def _is_number_of_days(node: exp.Expr) -> bool:
    number = node.args["expression"]
    if isinstance(number, exp.Mul):
        # date_sub becomes date_add of `number * -1`, which would split a sum.
        number = number.this
    number = number.this if isinstance(number, exp.Neg) else number
    return node.text("unit").upper() in ("", "DAY") and number.is_number


def _is_one_interval(node: exp.Expr) -> bool:
    # `x - INTERVAL 1 YEAR 2 MONTHS` would be split.
    return not (isinstance(node.this, exp.Interval) and isinstance(node.args["expression"], exp.Interval))


def _preserves_right_side(node: exp.Expr) -> bool:
    # A function may become an operator (`mod(b, c)`), which would need parentheses on the right side.
    return not isinstance(node.args["expression"], _OPERATORS)


def _is_snapshot(node: exp.Expr) -> bool:
    # The text does not say which snapshots other versions are.
    number = node.expression
    is_id = isinstance(number, exp.Literal) and not number.is_string
    return is_id and (node.name, node.text("kind")) == ("VERSION", "AS OF")


def _is_inner(node: exp.Expr) -> bool:
    # To the engine, a comma binds less tightly than JOIN, but not once it is rendered.
    return not node.text("side") and node.text("kind") in ("", "INNER", "CROSS")


def _is_of_patterns(node: exp.Expr) -> bool:
    # ANY and ALL of a subquery mean something else.
    return isinstance(node.parent, _PATTERNS) and isinstance(node.this, exp.Paren | exp.Tuple)


def _stands_apart(node: exp.Expr) -> bool:
    # `like(a, b) = c` is rendered as `a LIKE b = c`, which is read as `a LIKE (b = c)`.
    return node.parent is None or isinstance(node.parent, _AROUND_PATTERNS)


def _has_no_predicates(node: exp.Expr) -> bool:
    # `a <=> b < c` is `(a <=> b) < c` to the engine; the parser puts parentheses around the right side.
    return not any(isinstance(side.unnest(), exp.Predicate) for side in (node.this, node.expression))


def _compares_values(node: exp.Expr) -> bool:
    # IN, BETWEEN and their like apply to the whole comparison in the engine, to its right side in the parser.
    left, right = node.this, node.args["expression"]
    is_negated = isinstance(right, exp.Paren) and isinstance(right.this, exp.Not)
    is_compared = isinstance(right, (*_SUFFIXES, *_COMPARISONS, exp.NullSafeEQ))
    return not (isinstance(left, _SUFFIXES) or is_compared or is_negated)


_RULES: Mapping[type[exp.Expr], Callable[[exp.Expr], bool]] = {
    **dict.fromkeys(_COMPARISONS, _compares_values),
    exp.Add: _is_one_interval,
    exp.All: _is_of_patterns,
    exp.Any: _is_of_patterns,
    exp.Between: lambda node: not node.args.get("symmetric"),
    exp.Cast: _is_plain_cast,
    exp.DataType: lambda node: node.this in _TYPES,
    exp.Div: _preserves_right_side,
    exp.ILike: _stands_apart,
    exp.IntDiv: _preserves_right_side,
    exp.Join: _is_inner,
    exp.Like: _stands_apart,
    exp.Literal: _is_plain_literal,
    exp.Mod: _preserves_right_side,
    exp.Neg: lambda node: not isinstance(node.this, _OPERATORS),
    exp.NullSafeEQ: _has_no_predicates,
    exp.Placeholder: lambda node: bool(node.args.get("this")),
    exp.RegexpLike: _stands_apart,
    exp.Star: lambda node: isinstance(node.parent, exp.Count),
    exp.TryCast: _is_plain_cast,
    exp.TsOrDsAdd: _is_number_of_days,
    exp.TsOrDsToDate: _is_read_as_date,
    exp.Tuple: lambda node: isinstance(node.parent, _QUANTIFIERS),
    exp.Version: _is_snapshot,
}
