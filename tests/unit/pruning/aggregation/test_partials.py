from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal, localcontext
from random import Random

import pytest

from service.model.query.refresh import AggregateCall, Average, NotRefreshable, Partial, RefreshOutcome
from service.pruning.aggregation.partials import KeptAggregates, averaged, is_key_type, partial_of


def call(name: str, argument: str = "x") -> AggregateCall:
    return AggregateCall(name, argument)


@pytest.mark.parametrize(
    ("name", "argument_type", "result_type", "merged"),
    [
        ("count", "", "BIGINT", "coalesce(sum(__a0), 0L)"),
        ("count_if", "", "BIGINT", "coalesce(sum(__a0), 0L)"),
        ("sum", "INT", "BIGINT", "CAST(sum(__a0) AS BIGINT)"),
        ("sum", "DECIMAL(7,2)", "DECIMAL(17,2)", "CAST(sum(__a0) AS DECIMAL(17,2))"),
        ("min", "STRING", "STRING", "min(__a0)"),
        ("max", "TIMESTAMP", "TIMESTAMP", "max(__a0)"),
        ("bool_or", "BOOLEAN", "BOOLEAN", "bool_or(__a0)"),
        ("bit_xor", "INT", "INT", "bit_xor(__a0)"),
        ("bitmap_or_agg", "", "BINARY", "bitmap_or_agg(__a0)"),
        ("bitmap_and_agg", "", "BINARY", "bitmap_and_agg(__a0)"),
        ("bitmap_construct_agg", "", "BINARY", "bitmap_or_agg(__a0)"),
    ],
)
def test_an_aggregate_of_narrow_values_needs_no_guard(
    name: str, argument_type: str, result_type: str, merged: str
) -> None:
    partial = partial_of(call(name), 0, argument_type, result_type)
    assert (partial.columns, partial.merged, partial.guards) == ((("__a0", f"{name}(x)"),), merged, ())


def test_sums_that_may_overflow_have_a_guard() -> None:
    big = partial_of(call("sum"), 3, "BIGINT", "BIGINT")
    assert big.columns[1] == ("__b3", "sum(abs(CAST(x AS DECIMAL(20,0))))")
    assert big.guards[0].limit == 9_223_372_036_854_775_807
    wide = partial_of(call("sum"), 0, "DECIMAL(38,10)", "DECIMAL(38,10)")
    assert wide.guards[0].limit == 10**28 - 1


def test_integers_are_averaged_as_doubles_while_these_are_exact() -> None:
    partial = partial_of(call("avg"), 0, "INT", "DOUBLE")
    assert [name for name, _ in partial.columns] == ["__a0", "__c0", "__b0"]
    assert partial.guards[0].limit == 9_007_199_254_740_992
    narrow = partial_of(call("avg"), 0, "DECIMAL(7,2)", "DECIMAL(11,6)")
    assert narrow.guards[0].limit == 90_071_992_547_409
    assert narrow.average is None
    assert " * 100 AS DOUBLE) / " in narrow.merged
    assert ") / 100.0D AS DECIMAL(11,6))" in narrow.merged


def test_the_filter_of_an_aggregate_holds_for_all_of_its_columns() -> None:
    filtered = AggregateCall("avg", "x", "FILTER (WHERE y)")
    partial = partial_of(filtered, 0, "BIGINT", "DOUBLE")
    assert all(text.endswith(" FILTER (WHERE y)") for _, text in partial.columns)


@pytest.mark.parametrize(
    ("name", "argument_type", "result_type", "reason"),
    [
        ("sum", "DOUBLE", "DOUBLE", RefreshOutcome.FLOATING_POINT),
        ("avg", "FLOAT", "DOUBLE", RefreshOutcome.FLOATING_POINT),
        ("max", "DOUBLE", "DOUBLE", RefreshOutcome.FLOATING_POINT),
        ("sum", "STRING", "DOUBLE", RefreshOutcome.TYPE),
        ("avg", "INTERVAL DAY TO SECOND", "INTERVAL DAY TO SECOND", RefreshOutcome.TYPE),
        ("min", "STRING COLLATE UTF8_LCASE", "STRING COLLATE UTF8_LCASE", RefreshOutcome.TYPE),
        ("max", "ARRAY<INT>", "ARRAY<INT>", RefreshOutcome.TYPE),
    ],
)
def test_what_is_not_exact_is_refused(
    name: str, argument_type: str, result_type: str, reason: RefreshOutcome
) -> None:
    with pytest.raises(NotRefreshable) as failure:
        partial_of(call(name), 0, argument_type, result_type)
    assert failure.value.reason == reason


@pytest.mark.parametrize("argument_type", ["FLOAT", "DOUBLE"])
@pytest.mark.parametrize("name", ["sum", "avg", "mean", "min", "max", "bit_xor"])
def test_floating_point_numbers_are_merged_if_they_may_round(name: str, argument_type: str) -> None:
    def of() -> Partial:
        return partial_of(call(name), 1, argument_type, "DOUBLE", KeptAggregates(merges_floats=True))

    if name == "bit_xor":
        with pytest.raises(NotRefreshable):
            of()
    elif name in ("avg", "mean"):
        assert [column for column, _ in of().columns] == ["__a1", "__c1"]
        assert of().merged == "(sum(__a1) / CAST(nullif(sum(__c1), 0L) AS DOUBLE))"
    else:
        assert (of().columns, of().merged) == ((("__a1", f"{name}(x)"),), f"{name}(__a1)")


def test_keys_are_equal_exactly_if_their_bytes_are() -> None:
    assert all(map(is_key_type, ("INT", "DECIMAL(7,2)", "STRING", "DATE", "TIMESTAMP_NTZ", "BOOLEAN")))
    assert not any(
        map(is_key_type, ("DOUBLE", "FLOAT", "STRING COLLATE UNICODE", "VARIANT", "STRUCT<a: INT>"))
    )


def test_a_quotient_that_is_rounded_twice_is_the_one_that_is_rounded_once() -> None:
    """The rounding of SQL's division, as `averaged` arranges it, and that of Spark's own average."""
    random = Random(1)
    for _ in range(20_000):
        scale, result_scale = 2, 6
        count = random.choice((3, 7, 8, 16, random.randrange(1, 10**6)))
        total = random.randrange(-(10**14), 10**14)
        average = Average("__a0", "__c0", scale, 22, result_scale)
        text = averaged("\x00width:__a0\x00", average, abs(total), count)
        kept = min(scale + 21, 38 - (int(text) - scale))
        with localcontext() as context:
            context.prec = 80
            quotient = Decimal(total).scaleb(-scale) / count
            twice = _rounded(_rounded(quotient, kept), result_scale)
            assert twice == _rounded(_rounded(quotient, 39), result_scale), (total, count)


def test_a_quotient_without_room_is_refused() -> None:
    average = Average("__a0", "__c0", 10, 38, 14)
    with pytest.raises(NotRefreshable) as failure:
        averaged("", average, 10**37, 10**6)
    assert failure.value.reason is RefreshOutcome.MAY_OVERFLOW


def _rounded(value: Decimal, scale: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
