"""How `approx_count_distinct` is kept and merged: by the registers of its HyperLogLog++."""

from __future__ import annotations

import re
from math import ceil, log

from sqlglot import TokenType

from service.model.query.refresh import (
    AggregateCall,
    NotRefreshable,
    Partial,
    RefreshOutcome,
    StateFunction,
)
from service.pruning.aggregation.clauses import split_at_commas, text_of, tokens_of

DEFAULT_DEVIATION = 0.05
"""Spark takes it if the call does not say one. Source: `HyperLogLogPlusPlus`, like the other constants."""
_NUMBER = re.compile(r"((?:\d+\.?\d*|\.\d+)(?:E[+-]?\d+)?)(?:D|BD)?", re.IGNORECASE)
_REGISTERS_PER_WORD = 10
_WORD_BYTES = 8


def distinct_count(call: AggregateCall, number: int, max_register_bytes: int) -> Partial:
    """Returns how the call with this number is kept.

    A register is the greatest of what it has seen, so registers of parts are merged exactly, in any order.

    Raises:
        NotRefreshable: its arguments are not understood, or it has more registers than these bytes.
    """
    arguments = split_at_commas(tokens_of(call.argument))
    if any(token.token_type is TokenType.FARROW for argument in arguments for token in argument):
        # Arguments by name, in whatever order.
        raise NotRefreshable(RefreshOutcome.AGGREGATE)
    given = [text_of(call.argument, argument) for argument in arguments[1:]]
    if register_bytes(given) > max_register_bytes:
        raise NotRefreshable(RefreshOutcome.STATE_TOO_LARGE)
    name = f"__a{number}"
    merged, renewed = (
        f"{function}({', '.join((name, *given))})"
        for function in (StateFunction.ESTIMATE_DISTINCT, StateFunction.MERGE_REGISTERS)
    )
    return Partial(
        ((name, call.over(StateFunction.READ_REGISTERS, call.argument)),), merged, ((name, renewed),)
    )


def register_bytes(given: list[str]) -> int:
    """Returns the bytes of the registers for a deviation, if it is given.

    Raises:
        NotRefreshable: it is not a number, or something else is given.

    >>> register_bytes([]), register_bytes(["0.01"]), register_bytes(["5E-3D"])
    (416, 13112, 52432)
    """
    found = [_NUMBER.fullmatch(text) for text in given] or [None]
    if len(found) > 1 or (given and found[0] is None):
        raise NotRefreshable(RefreshOutcome.AGGREGATE)
    deviation = DEFAULT_DEVIATION if found[0] is None else float(found[0][1])
    if not 0 < deviation < 1:
        raise NotRefreshable(RefreshOutcome.AGGREGATE)
    precision = ceil(2 * log(1.106 / deviation) / log(2))
    return ((1 << max(precision, 0)) // _REGISTERS_PER_WORD + 1) * _WORD_BYTES
