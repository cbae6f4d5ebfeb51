"""NaN and infinity in JSON and in lines of JSON: texts, so that the answer is valid JSON."""

from __future__ import annotations

import json
import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.http.rendering.formats import render_csv, render_json, render_json_lines

SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
Numbers = st.lists(st.none() | st.floats(), max_size=20)


def strict(data: bytes) -> Any:
    """Reads JSON as RFC 8259 has it: without the words NaN and Infinity."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(data, parse_constant=refuse)


def number(value: object) -> float | None:
    if isinstance(value, str):
        return SPECIAL[value]
    assert value is None or isinstance(value, int | float)
    return None if value is None else float(value)


def bits(values: list[float | None]) -> list[str | None]:
    # Two NaN are not equal, and minus zero equals zero.
    return [None if value is None else repr(value) for value in values]


@given(Numbers)
def test_doubles_come_back_from_json_and_from_lines(values: list[float | None]) -> None:
    rows = pa.table({"x": pa.array(values, pa.float64())})
    assert bits([number(row[0]) for row in strict(render_json(rows))]) == bits(values)
    lines = render_json_lines(rows).splitlines()
    assert bits([number(strict(line)["x"]) for line in lines]) == bits(values)


@given(st.lists(st.none() | st.floats(width=32), max_size=20))
def test_floats_come_back_too(values: list[float | None]) -> None:
    rows = pa.table({"x": pa.array(values, pa.float32())})
    found = pa.array([number(row[0]) for row in strict(render_json(rows))], pa.float32())
    assert bits(found.to_pylist()) == bits(rows.column(0).to_pylist())


@given(Numbers)
def test_they_are_texts_inside_of_arrays_structs_and_maps_too(values: list[float | None]) -> None:
    kinds = {
        "list": pa.array([values], pa.list_(pa.float64())),
        "struct": pa.array([{"x": values}], pa.struct([("x", pa.list_(pa.float64()))])),
        "map": pa.array([[("k", value) for value in values[:1]]], pa.map_(pa.string(), pa.float64())),
    }
    [[of_list, of_struct, of_map]] = strict(render_json(pa.table(kinds)))
    assert bits([number(value) for value in of_list]) == bits(values)
    assert bits([number(value) for value in of_struct["x"]]) == bits(values)
    assert bits([number(value) for value in of_map.values()]) == bits(values[:1])


@pytest.mark.parametrize("word", list(SPECIAL))
def test_a_map_may_have_them_as_keys(word: str) -> None:
    rows = pa.table({"m": pa.array([[(SPECIAL[word], 1)]], pa.map_(pa.float64(), pa.int32()))})
    assert strict(render_json(rows)) == [[[{"key": word, "value": 1}]]]


def test_csv_has_the_same_words() -> None:
    rows = pa.table({"x": [math.nan, math.inf, -math.inf]})
    assert render_csv(rows) == b"x\r\nNaN\r\nInfinity\r\n-Infinity\r\n"
