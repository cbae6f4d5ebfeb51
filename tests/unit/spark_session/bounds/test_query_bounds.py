"""The limits on what a query demands of the engine. Spark's parsing is tested on the real engine."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors.statement_errors import QueryTooLarge, ReadOptionInvalid
from service.model.query.query import Parameter, Parameters
from spark_session.bounds.growing_functions import RULES
from spark_session.bounds.plan_sizes import allow_plan, allow_tasks
from spark_session.bounds.query_bounds import MIB, QueryBounds
from spark_session.bounds.read_option_values import RANGES, SWITCHES, allow_option_values
from spark_session.bounds.statement_bounds import allow_cube, allow_statement
from spark_session.bounds.value_sizes import LOOPS, MAX_LAMBDA_RUNS, ValueSizes
from spark_session.vetting.decision import Ruling, names_with
from spark_session.vetting.functions import FUNCTIONS, TABLE_FUNCTIONS
from spark_session.vetting.options import TAKEN_READ_OPTIONS

BOUNDS = QueryBounds()
Node = dict[str, Any]


def call(name: str, *arguments: object) -> Node:
    return {"f": name, "a": [node(argument) for argument in arguments]}


def node(value: object) -> Node:
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        return {"s": value[:200], "b": len(value.encode())}
    return {} if value is None else {"n": value}


A = {"v": "a"}


def read(**found: object) -> dict[str, object]:
    empty = ("options", "groupingSets", "recursionLevels", "calls", "strictCalls", "positions")
    return {name: [] for name in empty} | found


def sizes() -> ValueSizes:
    return ValueSizes(BOUNDS, {})


@given(st.integers(0, 2**31 - 1), st.integers(1, 2000))
def test_repeated_texts_pass_up_to_the_bound_and_not_one_byte_beyond(count: int, width: int) -> None:
    made = call("repeat", "x" * width, count)
    if count * width <= BOUNDS.value_bytes:
        sizes().allow_calls([made])
    else:
        with pytest.raises(QueryTooLarge, match="repeat"):
            sizes().allow_calls([made])


@settings(deadline=None)
@given(st.lists(st.integers(2, 50), min_size=1, max_size=12))
def test_repetitions_multiply_however_deep_they_are(counts: list[int]) -> None:
    made: Node = node("ab")
    total = 2
    for count in counts:
        made, total = call("repeat", call("cast", made), count), total * count
    if total <= BOUNDS.value_bytes:
        sizes().allow_calls([made])
    else:
        with pytest.raises(QueryTooLarge):
            sizes().allow_calls([made])


@pytest.mark.parametrize(
    "made",
    [
        call("space", 2_000_000_000),
        call("lpad", "x", call("multiply", 1_000_000, 2000)),
        call("rpad", None, "2000000000", "y"),
        call("array_repeat", 1, call("power", 10, 9)),
        call("sequence", 1, 10_000_000_000),
        call("sequence", 10_000_000_000, 1, -1),
        call("sequence", {"d": 0}, {"d": 9e17}, {"i": 1e6}),
        call("concat", call("repeat", "x", 30 * MIB), call("repeat", "x", 30 * MIB)),
        call("transform", call("sequence", 1, 100_000), call("lambdafunction", call("repeat", "a", 100_000))),
        call("replace", call("repeat", "a", 10_000), "a", call("repeat", "b", 10_000)),
        call("if", None, "x", call("repeat", "x", 2_000_000_000)),
        call("format_string", "%2000000000d", 1),
        call("aggregate", call("sequence", 1, 30), "x", {"l": ["a", "x"], "a": [call("concat", A, A)]}),
        call("reduce", None, "x", {"l": ["a", "x"], "a": [call("concat", A, ",", A)]}),
        call("array_insert", call("array", 1), 2_000_000_000, 1),
        call("split", call("repeat", "a", 30_000_000), ""),
        call("format_string", "%1$s" * 2000, call("repeat", "x", 100_000)),
        call("repeat", None, 2_000_000_000),
        call("round", 1.5, -2_000_000_000),
        call("round", 1.5, call("negative", 2_000_000_000)),
        call("format_number", 1, 2_000_000_000),
        call("stack", 2_000_000_000, 1),
        call("window", None, {"s": "10000 days", "b": 10, "i": 8.64e14}, {"s": "1 second", "b": 8, "i": 1e6}),
        call("range", 0, 10, 1, 2_000_000_000),
        call("range", 0, {"k": "numslices", "a": [node(2_000_000_000)]}),
        call("count_min_sketch", None, 1e-9, 0.9, 1),
        call("approx_count_distinct", None, 0.0001),
        call("theta_sketch_agg", None, 26),
        call("levenshtein", call("repeat", "a", 1_000_000), call("repeat", "b", 1_000_000)),
    ],
    ids=lambda made: str(made["f"]),
)
def test_a_small_text_that_makes_much_is_refused(made: Node) -> None:
    with pytest.raises(QueryTooLarge, match=r"."):
        sizes().allow_calls([made])


@pytest.mark.parametrize(
    "made",
    [
        call("repeat", "x", 10),
        call("repeat", None, None),
        call("sequence", {"d": 0}, {"d": 50 * 365 * 86_400_000_000}, {"i": 86_400_000_000}),
        call("sequence", 1, 1_000_000),
        call("round", None, 2),
        call("window", None, {"s": "1 hour", "b": 6, "i": 3.6e9}, {"s": "1 minute", "b": 8, "i": 6e7}),
        call("window", None, {"s": "1 day", "b": 5, "i": 8.64e10}),
        call("range", 0, 1_000_000_000),
        call("replace", None, "a", "b"),
        call("approx_count_distinct", None, 0.05),
        call("format_string", "%010d|%s", 1, "x"),
        call("stack", 3, 1, 2, 3),
        call("aggregate", None, "", {"l": ["a", "x"], "a": [call("concat", A, ",", {"v": "x"})]}),
        call("aggregate", None, 0, {"l": ["a", "x"], "a": [call("add", A, {"v": "x"})]}),
        call("aggregate", call("array", 1, 2), 0, {"l": ["a", "x"], "a": [call("if", None, A, A)]}),
        call("split", None, ","),
    ],
    ids=lambda made: str(made["f"]),
)
def test_what_is_asked_for_every_day_passes(made: Node) -> None:
    sizes().allow_calls([made])


def test_values_count_together() -> None:
    with pytest.raises(QueryTooLarge, match="together"):
        sizes().allow_calls([call("repeat", "x", 20 * MIB), call("space", 20 * MIB)])


def test_what_is_evaluated_ahead_of_the_query_has_to_say_its_size() -> None:
    for made in (call("repeat", "x", 10), call("round", None, 2), call("concat", call("string", 1))):
        sizes().allow_calls([made], is_strict=True)
    with pytest.raises(QueryTooLarge, match="ahead of the query"):
        sizes().allow_calls([call("repeat", "x", None)], is_strict=True)


@pytest.mark.parametrize(
    ("parameters", "count"),
    [
        ({"n": Parameter(2_000_000_000)}, {"p": "n"}),
        ({"n": Parameter("2000000000", "INT")}, {"p": "n"}),
        ((Parameter(1), Parameter(2_000_000_000)), {"at": 40}),
    ],
)
def test_a_parameter_counts_as_what_it_stands_for(parameters: Parameters, count: Node) -> None:
    with pytest.raises(QueryTooLarge, match="repeat"):
        allow_statement(read(calls=[call("repeat", "x", count)], positions=[7, 40]), parameters, BOUNDS)


def test_every_option_that_is_a_number_or_a_switch_has_bounds() -> None:
    assert TAKEN_READ_OPTIONS - set(RANGES) - SWITCHES == {"branch"}


@settings(deadline=None)
@given(st.sampled_from(sorted(RANGES)), st.integers(-(2**70), 2**70))
def test_a_read_option_takes_what_lies_within_its_bounds(option: str, value: int) -> None:
    least, most = RANGES[option](BOUNDS)
    if least <= value <= most:
        allow_option_values([(option, str(value))], BOUNDS)
    else:
        with pytest.raises(ReadOptionInvalid, match=option):
            allow_option_values([(option, str(value))], BOUNDS)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("batch-size", "1e9"),
        ("split-size", ""),
        ("lookback", "ten"),
        ("locality", "2"),
        ("branch", "x" * 300),
    ],
)
def test_a_value_that_an_option_does_not_take_is_refused(option: str, value: str) -> None:
    with pytest.raises(ReadOptionInvalid, match=option):
        allow_option_values([(option, value)], BOUNDS)


def test_grouping_sets_and_recursions_have_bounds() -> None:
    allow_cube(12, BOUNDS)
    allow_statement(read(groupingSets=[4096], recursionLevels=[100]), (), BOUNDS)
    with pytest.raises(QueryTooLarge, match="grouping sets"):
        allow_cube(30, BOUNDS)
    with pytest.raises(QueryTooLarge, match="grouping sets"):
        allow_statement(read(groupingSets=[2.0**30]), (), BOUNDS)
    with pytest.raises(QueryTooLarge, match="RECURSION"):
        allow_statement(read(recursionLevels=[2_000_000_000]), (), BOUNDS)


@pytest.mark.parametrize("part", [("range", 10_001), ("copies", 4097), ("uses", 1e9), ("bytes", 1e9)])
def test_a_part_of_the_analyzed_plan_has_bounds(part: tuple[str, float]) -> None:
    allow_plan([("range", 4), ("copies", 8), ("uses", 12), ("bytes", 640)], BOUNDS)
    with pytest.raises(QueryTooLarge):
        allow_plan([part], BOUNDS)


def test_too_many_tasks_are_refused_with_what_makes_most_of_them() -> None:
    with pytest.raises(QueryTooLarge, match=r"110,000 tasks, 90,000 of them for its scan of shop\.sales"):
        allow_tasks([("scan of shop.sales", 90_000), ("exchange", 20_000)], BOUNDS)


def test_each_function_with_a_bound_has_a_rule() -> None:
    # Their options, or the JVM's own limits, are their bounds.
    others = {"schema_of_csv", "to_csv"} | {name for name in FUNCTIONS if name.startswith("xpath")}
    bounded = names_with(FUNCTIONS, Ruling.BOUNDED) | names_with(TABLE_FUNCTIONS, Ruling.BOUNDED)
    assert bounded - others == {*RULES, *LOOPS} - others


def loop(name: str, elements: int, body: object) -> Node:
    return {"f": name, "a": [call("sequence", 1, elements), {"l": ["x"], "a": [node(body)]}]}


@given(st.integers(1, 100_000), st.integers(1, 100_000), st.sampled_from(["exists", "filter", "forall"]))
def test_lambdas_within_lambdas_multiply(outer: int, inner: int, name: str) -> None:
    nested = loop(name, outer, loop("exists", inner, 1))
    if outer * inner <= MAX_LAMBDA_RUNS:
        sizes().allow_calls([nested])
    else:
        with pytest.raises(QueryTooLarge, match="exists would run its lambda"):
            sizes().allow_calls([nested])


def test_lambdas_one_after_the_other_do_not_multiply() -> None:
    sizes().allow_calls([loop("exists", 100_000, 1) for _ in range(30)])


def test_a_separator_is_bounded() -> None:
    sizes().allow_calls([call("listagg", None, "x" * 1000)])
    with pytest.raises(QueryTooLarge, match="separator"):
        sizes().allow_calls([call("string_agg", None, "x" * 1001)])
