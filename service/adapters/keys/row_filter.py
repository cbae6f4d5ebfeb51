"""Translates a SQL condition to a PyIceberg row filter, if both keep exactly the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyiceberg.expressions import (
    And,
    BooleanExpression,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNull,
    LessThan,
    LessThanOrEqual,
    NotEqualTo,
    NotIn,
    NotNull,
    NotStartsWith,
    Or,
    StartsWith,
)
from pyiceberg.types import NestedField, StringType
from sqlglot import exp

from service.adapters.keys.key_literals import NotTranslatable, literal_value
from service.model.filters.key_selection import LiteralValue
from service.model.query.query import Parameters

# Their type annotations differ from the arguments that they accept.
_Predicate = Callable[..., BooleanExpression]
_in: _Predicate = In
_not_in: _Predicate = NotIn
_starts_with: _Predicate = StartsWith
_not_starts_with: _Predicate = NotStartsWith
_less_than: _Predicate = LessThan
_greater_than: _Predicate = GreaterThan
_at_least: _Predicate = GreaterThanOrEqual
_at_most: _Predicate = LessThanOrEqual
_is_null: _Predicate = IsNull
_not_null: _Predicate = NotNull
_COMPARISONS: Mapping[type[exp.Expr], _Predicate] = {
    exp.EQ: EqualTo,
    exp.NEQ: NotEqualTo,
    exp.LT: LessThan,
    exp.LTE: LessThanOrEqual,
    exp.GT: GreaterThan,
    exp.GTE: GreaterThanOrEqual,
}
_OPPOSITE: Mapping[_Predicate, _Predicate] = {
    EqualTo: NotEqualTo,
    NotEqualTo: EqualTo,
    LessThan: GreaterThanOrEqual,
    GreaterThanOrEqual: LessThan,
    GreaterThan: LessThanOrEqual,
    LessThanOrEqual: GreaterThan,
}
_MIRRORED: Mapping[_Predicate, _Predicate] = {
    EqualTo: EqualTo,
    NotEqualTo: NotEqualTo,
    LessThan: GreaterThan,
    LessThanOrEqual: GreaterThanOrEqual,
    GreaterThan: LessThan,
    GreaterThanOrEqual: LessThanOrEqual,
}

# sqlglot stores NOT in some nodes and SYMMETRIC in others: ignoring a part would change the meaning.
_PARTS: Mapping[type[exp.Expr], frozenset[str]] = {
    exp.Between: frozenset({"this", "low", "high"}),
    exp.In: frozenset({"this", "expressions"}),
    exp.Like: frozenset({"this", "expression", "negate"}),
}
_USUAL_PARTS = frozenset({"this", "expression"})


@dataclass(frozen=True, slots=True)
class RowFilters:
    """Translates conditions over one table; `fields` are by their names in lower case."""

    table_alias: str
    fields: Mapping[str, NestedField]
    parameters: Parameters

    def field(self, column: exp.Expr) -> NestedField:
        """Returns the field that a column of the query refers to.

        Raises:
            NotTranslatable: it is not a column of the table.
        """
        if not isinstance(column, exp.Column) or column.args.get("db"):
            raise NotTranslatable
        field = self.fields.get(column.name.lower())
        if field is None or column.table.lower() not in ("", self.table_alias.lower()):
            raise NotTranslatable
        return field

    def row_filter(self, condition: exp.Expr, is_negated: bool = False) -> BooleanExpression:
        """Keeps the rows for which the condition (or its negation) is true, and not those where it is NULL.

        NOT before a comparison becomes the opposite comparison. Each comparison also requires a value,
        because to PyIceberg NULL is unequal to everything.

        Raises:
            NotTranslatable: a part of it may mean something else to PyIceberg.
        """
        if not _has_only_known_parts(condition):
            raise NotTranslatable
        match condition:
            case exp.Paren():
                return self.row_filter(condition.this, is_negated)
            case exp.Not():
                return self.row_filter(condition.this, not is_negated)
            case exp.And() | exp.Or() if is_negated:
                # For a NULL partition value, the engine with Iceberg 1.12 evaluates to true what is NULL in
                # SQL.
                raise NotTranslatable
            case exp.Or() if any(map(_is_unequal, condition.walk())):
                # The same happens for `<>` and similar comparisons if no other predicate requires a value.
                raise NotTranslatable
            case exp.And() | exp.Or():
                sides = [self.row_filter(side) for side in (condition.left, condition.right)]
                return And(*sides) if isinstance(condition, exp.And) else Or(*sides)
            case _:
                return self._of_column(condition, is_negated)

    def _of_column(self, condition: exp.Expr, is_negated: bool) -> BooleanExpression:
        match condition:
            case exp.Is():
                return self._is_null(condition, is_negated)
            case exp.Between():
                return self._between(condition, is_negated)
            case exp.In():
                return self._in(condition, is_negated)
            case exp.Like():
                return self._like(condition, is_negated)
            case _:
                return self._comparison(condition, is_negated)

    def _comparison(self, condition: exp.Expr, is_negated: bool) -> BooleanExpression:
        comparison = _COMPARISONS.get(type(condition))
        if comparison is None:
            raise NotTranslatable
        column, literal = condition.this.unnest(), condition.expression.unnest()
        if not isinstance(column, exp.Column):
            column, literal, comparison = literal, column, _MIRRORED[comparison]
        field = self.field(column)
        if is_negated:
            comparison = _OPPOSITE[comparison]
        return _of_a_value(field, comparison(field.name, self.value(literal, field)))

    def _between(self, condition: exp.Between, is_negated: bool) -> BooleanExpression:
        field = self.field(condition.this.unnest())
        low, high = (self.value(condition.args[end], field) for end in ("low", "high"))
        inside = And(_at_least(field.name, low), _at_most(field.name, high))
        outside = Or(_less_than(field.name, low), _greater_than(field.name, high))
        return _of_a_value(field, outside if is_negated else inside)

    def _in(self, condition: exp.In, is_negated: bool) -> BooleanExpression:
        field = self.field(condition.this.unnest())
        values = {self.value(expression, field) for expression in condition.expressions}
        return _of_a_value(field, (_not_in if is_negated else _in)(field.name, values))

    def _like(self, condition: exp.Like, is_negated: bool) -> BooleanExpression:
        field = self.field(condition.this.unnest())
        pattern = self.value(condition.expression, field)
        if not isinstance(field.field_type, StringType) or not isinstance(pattern, str):
            raise NotTranslatable
        prefix = pattern.removesuffix("%")
        if prefix == pattern or not prefix or set(prefix) & set("%_\\"):
            raise NotTranslatable
        is_unlike = is_negated != bool(condition.args.get("negate"))
        return _of_a_value(field, (_not_starts_with if is_unlike else _starts_with)(field.name, prefix))

    def _is_null(self, condition: exp.Is, is_negated: bool) -> BooleanExpression:
        if not isinstance(condition.expression, exp.Null):
            raise NotTranslatable
        field = self.field(condition.this.unnest())
        return (_not_null if is_negated else _is_null)(field.name)

    def value(self, literal: exp.Expr, field: NestedField) -> LiteralValue:
        """Returns a literal or a parameter as a value of the field's type.

        Raises:
            NotTranslatable: it is not one of exactly this type.
        """
        return literal_value(literal, field.field_type, self.parameters)


def has_value(field: NestedField) -> BooleanExpression:
    """Keeps the rows in which the field is not NULL."""
    return _not_null(field.name)


def _of_a_value(field: NestedField, predicate: BooleanExpression) -> BooleanExpression:
    return And(has_value(field), predicate)


def _is_unequal(node: exp.Expr) -> bool:
    if isinstance(node, exp.Not):
        return not isinstance(node.this.unnest(), exp.Is)
    return isinstance(node, exp.NEQ) or bool(node.args.get("negate"))


def _has_only_known_parts(node: exp.Expr) -> bool:
    known = _PARTS.get(type(node), _USUAL_PARTS)
    return all(key in known for key, value in node.args.items() if value)
