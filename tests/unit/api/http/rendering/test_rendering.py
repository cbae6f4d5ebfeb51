from __future__ import annotations

import datetime
import decimal
import io
import json
import time
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.http.rendering import formats
from api.http.rendering.formats import render, render_arrow, render_csv, render_json
from api.http.rendering.json_values import json_values
from service.model.calendar import PER_SECOND, date_text, moment_of
from service.model.query.results import ResultFormat

DAY = datetime.date(2000, 2, 29)
NIGHT = datetime.datetime(2000, 2, 29, 23, 59, 58)
UTC = datetime.UTC
VALUES: list[tuple[pa.DataType, Any, Any]] = [
    (pa.int64(), 2**63 - 1, 2**63 - 1),
    (pa.int8(), -1, -1),
    (pa.bool_(), True, True),
    (pa.float64(), 0.1, 0.1),
    (pa.float32(), 0.1, 0.1),
    (pa.float64(), float("nan"), "NaN"),
    (pa.float32(), float("inf"), "Infinity"),
    (pa.float64(), float("-inf"), "-Infinity"),
    (pa.decimal128(7, 2), decimal.Decimal("35790.10"), "35790.10"),
    (pa.decimal128(38, 8), decimal.Decimal("0.00000001"), "0.00000001"),
    (pa.decimal128(38, 8), decimal.Decimal(0), "0.00000000"),
    (pa.date32(), DAY, "2000-02-29"),
    (pa.timestamp("us"), NIGHT, "2000-02-29T23:59:58"),
    (pa.timestamp("us"), NIGHT.replace(microsecond=500), "2000-02-29T23:59:58.000500"),
    (pa.timestamp("us", "UTC"), NIGHT.replace(tzinfo=UTC), "2000-02-29T23:59:58+00:00"),
    (pa.timestamp("us", "Europe/Berlin"), NIGHT.replace(tzinfo=UTC), "2000-03-01T00:59:58+01:00"),
    (pa.time64("ns"), datetime.time(10, 20, 30, 500_000), "10:20:30.5"),
    (pa.time64("us"), datetime.time(10), "10:00:00"),
    (pa.time32("s"), datetime.time(10), "10:00:00"),
    (pa.binary(), b"\x00\xff", "AP8="),
    (pa.string(), "ä\u2028\n", "ä\u2028\n"),
    (pa.dictionary(pa.int8(), pa.string()), "x", "x"),
    (pa.list_(pa.decimal128(3, 1)), [decimal.Decimal("1.5"), None], ["1.5", None]),
    (pa.list_(pa.int8()), [], []),
    (pa.list_(pa.int8(), 2), [1, 2], [1, 2]),
    (
        pa.struct([("a", pa.date32()), ("b", pa.int8())]),
        {"a": DAY, "b": None},
        {"a": "2000-02-29", "b": None},
    ),
    (pa.map_(pa.string(), pa.int8()), [("k", 1), ("l", None)], {"k": 1, "l": None}),
    (pa.map_(pa.date32(), pa.int8()), [(DAY, 1)], [{"key": "2000-02-29", "value": 1}]),
    (pa.duration("us"), datetime.timedelta(days=1, seconds=3661), "P1DT1H1M1S"),
    (pa.duration("us"), datetime.timedelta(0), "PT0S"),
    (pa.month_day_nano_interval(), pa.MonthDayNano([14, 3, 4_500_000_000]), "P1Y2M3DT4.5S"),
    (pa.month_day_nano_interval(), pa.MonthDayNano([-14, 0, 0]), "-P1Y2M"),
    (pa.list_(pa.map_(pa.string(), pa.list_(pa.int8()))), [[("k", [1])], None], [{"k": [1]}, None]),
]


@pytest.mark.parametrize(("kind", "value", "expected"), VALUES)
def test_a_value_is_rendered_and_null_stays_null(kind: pa.DataType, value: Any, expected: Any) -> None:
    array = pa.array([None, value, value, None], kind)
    assert json_values(array) == [None, expected, expected, None]
    assert json_values(array.slice(2)) == [expected, None]
    assert json_values(pa.array([None], kind)) == [None]
    assert json_values(pa.array([], kind)) == []


def test_a_null_column_is_null() -> None:
    assert json_values(pa.nulls(2)) == [None, None]


def test_a_struct_may_have_two_fields_of_one_name_and_none_at_all() -> None:
    twice = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    assert json_values(twice) == [[{"name": "a", "value": 1}, {"name": "a", "value": 2}]]
    assert json_values(pa.array([{}, None], pa.struct([]))) == [{}, None]


def test_text_that_is_not_utf_8_does_not_fail() -> None:
    broken = pa.Array.from_buffers(pa.string(), 1, pa.array([b"a\xff"]).buffers())
    assert json_values(broken) == ["a\ufffd"]


def test_columns_of_one_name_are_all_there() -> None:
    table = pa.table([pa.array([1]), pa.array(["x"])], names=["a", "a"])
    assert render_json(table) == b'[[1,"x"]]'
    assert render_csv(table) == b"a,a\r\n1,x\r\n"
    assert pa.ipc.open_stream(io.BytesIO(render_arrow(table))).read_all().equals(table)


def test_a_table_without_columns_has_its_rows() -> None:
    table = pa.table({"a": [1, 2]}).select([])
    assert render_json(table) == b"[[],[]]"


def test_csv_tells_null_from_an_empty_string_and_quotes_what_needs_it() -> None:
    table = pa.table({"a": ["", None, ' x"\n'], "b": [[1, 2], None, []], "c": [True, None, False]})
    assert render_csv(table) == b'a,b,c\r\n"","[1,2]",true\r\n,,\r\n" x""\n","[]",false\r\n'


def test_a_slice_renders_like_its_own_rows_and_the_same_each_time() -> None:
    table = pa.table({"m": pa.array([[("a", i)] for i in range(9)], pa.map_(pa.string(), pa.int8()))})
    assert json.loads(render_json(table.slice(4, 2))) == [[{"a": 4}], [{"a": 5}]]
    assert render_arrow(table.slice(4, 2)) == render_arrow(table.slice(4, 2))


def test_ten_thousand_rows_are_rendered_within_bounds() -> None:
    rows = range(10_000)
    table = pa.table(
        {
            "int": pa.array(rows),
            "float": pa.array([row / 7 for row in rows]),
            "text": [f"row {row}" for row in rows],
            "decimal": pa.array([decimal.Decimal(row) for row in rows], pa.decimal128(9, 2)),
            "date": pa.array([DAY] * 10_000),
            "zoned": pa.array([NIGHT] * 10_000, pa.timestamp("us", "UTC")),
            "naive": pa.array([NIGHT] * 10_000, pa.timestamp("us")),
            "flag": pa.array([row % 2 == 0 for row in rows]),
            "some": pa.array([row if row % 3 else None for row in rows]),
            "list": pa.array([[row] for row in rows]),
        }
    )
    started = time.process_time()
    rendered = render_json(table)
    # Rendering takes about 30 ms; quadratic work would take longer than this bound.
    assert time.process_time() - started < 2
    assert len(json.loads(rendered)) == 10_000


FAR_DAYS = st.lists(st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1)), max_size=5)
FAR_TICKS = st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)), max_size=5)


@given(FAR_DAYS)
def test_days_of_every_year_are_written(days: list[int | None]) -> None:
    array = pa.array(days, pa.int32()).view(pa.date32())
    assert json_values(array) == [None if day is None else date_text(day) for day in days]


@given(FAR_TICKS, st.sampled_from(["s", "ms", "us", "ns"]), st.sampled_from([None, "UTC"]))
def test_moments_of_every_year_are_written(ticks: list[int | None], unit: str, zone: str | None) -> None:
    array = pa.array(ticks, pa.int64()).view(pa.timestamp(unit, zone))
    for tick, text in zip(ticks, json_values(array), strict=True):
        assert (tick is None) == (text is None)
        if tick is not None:
            assert moment_of(text) == (tick * (10**9 // PER_SECOND[unit]), zone is not None)


def test_moments_in_other_zones_are_reported_in_utc_where_arrow_cannot_write_them() -> None:
    array = pa.array([1_700_000_000_000, 0], pa.timestamp("s", "Europe/Berlin"))
    assert json_values(array) == ["+55840-11-08T22:13:20+00:00", "1970-01-01T00:00:00+00:00"]


def test_csv_writes_the_same_days() -> None:
    table = pa.table({"d": pa.array([11_248_738, 0], pa.int32()).view(pa.date32())})
    assert render_csv(table) == b"d\r\n+32768-01-01\r\n1970-01-01\r\n"


def test_large_tables_are_rendered_one_at_a_time_and_small_ones_meanwhile() -> None:
    large, small = pa.table({"a": ["x" * 1000] * 1000}), pa.table({"a": [1]})
    with ThreadPoolExecutor(1) as pool:
        with formats._turn:
            waiting = pool.submit(render, large, ResultFormat.CSV)
            assert render(small, ResultFormat.JSON) == b"[[1]]"
            assert not wait([waiting], timeout=0.1).done
        assert waiting.result(10) == render_csv(large)
