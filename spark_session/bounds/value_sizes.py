"""Computes the size of a call's value from the inside out; an error names a value that is too large."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import log2
from typing import Any

from service.errors.statement_errors import QueryTooLarge
from spark_session.bounds.arithmetic import arithmetic
from spark_session.bounds.growing_functions import RULES
from spark_session.bounds.named_arguments import in_order
from spark_session.bounds.query_bounds import QueryBounds
from spark_session.bounds.sized import UNKNOWN, Sized, number

Node = Mapping[str, Any]
"""One node of a call, as `CallReader.java` writes it."""

CHOOSING = frozenset({"if", "casewhen", "case", "when", "coalesce", "nvl", "ifnull", "nvl2", "nullif"})
# Functions whose size is a number among their arguments; `identifier` makes a name of unknown size.
COUNTED = frozenset(
    {"repeat", "space", "lpad", "rpad", "randstr", "array_repeat", "array_insert", "sequence", "identifier"}
)
FOLDING = frozenset({"aggregate", "reduce"})
# Functions that run a lambda for each element. One call is a single step to Spark: no cancellation ends it.
LOOPS = frozenset(
    {
        *FOLDING,
        "array_sort",
        "exists",
        "filter",
        "forall",
        "map_filter",
        "map_zip_with",
        "transform",
        "transform_keys",
        "transform_values",
        "zip_with",
    }
)
# They take some seconds.
MAX_LAMBDA_RUNS = 20_000_000
# The assumed size of a value that grows; each addition is small by comparison.
ACCUMULATED = 2.0**20
DOUBLED = 1.9
SAME = frozenset({"cast", "try_cast", "ansi_cast", "string", "trim", "lower", "upper", "reverse", "try_eval"})


class ValueSizes:
    """Computes the sizes of the calls of one statement."""

    def __init__(self, bounds: QueryBounds, parameters: Mapping[str | int, Sized]) -> None:
        self._bounds = bounds
        self._parameters = parameters
        self._variables: dict[str, Sized] = {}
        self._steps = 1.0
        self._is_strict = False

    def allow_calls(self, calls: Sequence[Node], *, is_strict: bool = False) -> None:
        """Checks that each value of the calls, and all of them together, are within the bounds.

        Strict calls must state how often they repeat: the engine evaluates them before its plan is complete.

        Raises:
            QueryTooLarge: the values are too large.
        """
        self._is_strict = is_strict
        made = [self.of(call) for call in calls]
        if (total := sum(sized.known_bytes for sized in made)) > self._bounds.value_bytes:
            raise QueryTooLarge(
                f"The values that functions of this query make would have {total:,.0f} bytes together; "
                f"{self._bounds.value_bytes:,} are allowed (setting max_value_bytes)."
            )

    def of(self, node: Node) -> Sized:
        """Returns the size of one node's value.

        Raises:
            QueryTooLarge: the value, or one below it, is too large.
        """
        if "f" in node:
            return self._of_call(node["f"], node["a"])
        if "v" in node:
            return self._variables.get(node["v"], UNKNOWN)
        if "l" in node:
            return self.of(node["a"][0])
        if "p" in node or "at" in node:
            return self._parameters.get(node.get("p", node.get("at", "")), UNKNOWN)
        return literal(node)

    def _of_call(self, name: str, nodes: Sequence[Node]) -> Sized:
        if name in FOLDING and len(nodes) > 2:
            return self._folded(name, nodes)
        given = in_order(name, nodes)
        arguments = self._of_loop(name, given) if name in LOOPS else [self.of(argument) for argument in given]
        if name in RULES:
            made = RULES[name](name, arguments, self._bounds)
        elif name in CHOOSING:
            made = _largest(arguments)
        elif name in SAME and arguments:
            made = arguments[0]
        else:
            made = arithmetic(name, arguments) or _sum(arguments)
        if self._is_strict and name in COUNTED and made == UNKNOWN:
            raise QueryTooLarge(
                f"{name} stands where it is evaluated ahead of the query, and the size of what it makes is "
                "not known: give its arguments as plain values."
            )
        if made.known_bytes > self._bounds.value_bytes:
            raise QueryTooLarge(
                f"{name} would make a value of {made.known_bytes:,.0f} bytes; "
                f"{self._bounds.value_bytes:,} are allowed (setting max_value_bytes)."
            )
        return made

    def _of_loop(self, name: str, nodes: Sequence[Node]) -> list[Sized]:
        """Returns the arguments' sizes. A lambda within a lambda runs for each pair of elements."""
        values = [self.of(node) for node in nodes if "l" not in node]
        with self._for_each(name, max((value.elements or 1 for value in values), default=1.0)):
            return values + [self.of(node) for node in nodes if "l" in node]

    @contextmanager
    def _for_each(self, name: str, elements: float) -> Iterator[None]:
        before = self._steps
        self._steps *= max(elements, 1.0)
        if self._steps > MAX_LAMBDA_RUNS:
            raise QueryTooLarge(
                f"{name} would run its lambda {self._steps:,.0f} times, counted through all lambdas that "
                f"it is in; {MAX_LAMBDA_RUNS:,} are allowed."
            )
        try:
            yield
        finally:
            self._steps = before

    def _folded(self, name: str, nodes: Sequence[Node]) -> Sized:
        """Sizes a value that each element computes again from itself: doubled thirty times, it is huge."""
        array, start = self.of(nodes[0]), self.of(nodes[1])
        many = array.elements or 0.0
        with self._for_each(name, many):
            growth = self._growth(nodes[2])
        if growth >= DOUBLED and not 0 < many * log2(growth) < log2(self._bounds.value_bytes):
            raise QueryTooLarge(f"{name} would make its value {growth:,.0f} times as large at each element.")
        made = max(start.known_bytes, 1.0) * (growth**many if growth >= DOUBLED else 1.0)
        return Sized(byte_count=max(made, array.known_bytes), elements=array.elements)

    def _growth(self, merge: Node) -> float:
        names = merge.get("l", [""])
        before = self._variables
        self._variables = {**before, names[0]: Sized(byte_count=ACCUMULATED)}
        try:
            return self.of(merge).known_bytes / ACCUMULATED
        finally:
            self._variables = before


def literal(node: Node) -> Sized:
    """Returns the size of a literal; empty if the node is not one.

    >>> literal({"n": 7}).high, literal({"s": "é", "b": 2}).byte_count, literal({})
    (7, 2, Sized(byte_count=None, elements=None, low=None, high=None, micros=None, text=None))
    """
    if "n" in node:
        return number(node["n"])
    micros = node.get("d", node.get("i"))
    return Sized(byte_count=node.get("b"), micros=micros, text=node.get("s"))


def _largest(arguments: Sequence[Sized]) -> Sized:
    """Returns the bounds of whichever value the query chooses. A condition among them does no harm."""
    numbers = [argument for argument in arguments if argument.low is not None and argument.high is not None]
    return Sized(
        byte_count=max((argument.known_bytes for argument in arguments), default=None),
        elements=max((argument.elements or 0 for argument in arguments), default=None),
        low=min((number.low for number in numbers if number.low is not None), default=None),
        high=max((number.high for number in numbers if number.high is not None), default=None),
    )


def _sum(arguments: Sequence[Sized]) -> Sized:
    """Returns the arguments' sizes added up: most functions return no more than they are given."""
    if all(argument.byte_count is None for argument in arguments):
        return UNKNOWN
    elements = max((argument.elements or 0 for argument in arguments), default=0)
    return Sized(byte_count=sum(argument.known_bytes for argument in arguments), elements=elements)
