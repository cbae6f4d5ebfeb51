"""Checks that a statement, as Spark's parser reads it, stays within the bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.errors.statement_errors import QueryTooLarge
from service.model.query.query import Parameter, Parameters
from spark_session.bounds.query_bounds import QueryBounds
from spark_session.bounds.read_option_values import allow_option_values
from spark_session.bounds.sized import UNKNOWN, Sized, number
from spark_session.bounds.value_sizes import ValueSizes


def allow_cube(columns: int, bounds: QueryBounds) -> None:
    """Checks that a CUBE of so many columns makes few enough sets; its text is not parsed yet.

    Raises:
        QueryTooLarge: it makes too many.
    """
    _allow_sets(2.0 ** min(columns, 60), bounds)


def allow_statement(read: Mapping[str, Any], parameters: Parameters, bounds: QueryBounds) -> None:
    """Checks that everything that `StatementReader.java` has read of the statement is within the bounds.

    Raises:
        QueryTooLarge: a clause or function asks for too much.
        ReadOptionInvalid: a read option has a value that it does not take.
    """
    allow_option_values(read["options"], bounds)
    for sets in read["groupingSets"]:
        _allow_sets(sets, bounds)
    for levels in read["recursionLevels"]:
        if not 0 <= levels <= bounds.row_copies:
            raise QueryTooLarge(
                f"MAX RECURSION LEVEL takes 0 to {bounds.row_copies:,}, not {levels:,} (max_row_copies)."
            )
    sizes = ValueSizes(bounds, _sizes_of(parameters, read["positions"]))
    sizes.allow_calls(read["calls"])
    sizes.allow_calls(read["strictCalls"], is_strict=True)


def _allow_sets(sets: float, bounds: QueryBounds) -> None:
    if sets > bounds.row_copies:
        raise QueryTooLarge(
            f"A GROUP BY asks for {sets:,.0f} grouping sets, and each row is read for every one; "
            f"{bounds.row_copies:,} are allowed (setting max_row_copies)."
        )


def _sizes_of(parameters: Parameters, positions: list[int]) -> Mapping[str | int, Sized]:
    if isinstance(parameters, Mapping):
        return {name: _size(parameter) for name, parameter in parameters.items()}
    return {at: _size(parameter) for at, parameter in zip(positions, parameters, strict=False)}


def _size(parameter: Parameter) -> Sized:
    value = parameter.value
    if isinstance(value, bool) or value is None:
        return UNKNOWN
    if isinstance(value, int | float):
        return number(float(value))
    return Sized(byte_count=len(value.encode()), text=value[:200])
