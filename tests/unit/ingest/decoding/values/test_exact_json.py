"""JSON gives exactly the numbers and names that it spells."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from service.ingest.decoding.json.far_digits import has_far_digits
from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.rows import BadRow
from service.ingest.decoding.values.exact_json import (
    NumberTooLong,
    exact_json,
    exact_number,
    json_text,
    strict_json,
)
from service.model.ingest.record_formats import RecordFormat
from service.model.tables.schemas import Field, ListOf, Primitive, Struct

NDJSON, CSV = RecordFormat.NDJSON, RecordFormat.CSV


def read(body: str, kind: Any, record_format: RecordFormat) -> tuple[list[Any], list[str]]:
    """Returns the good values of a column `v`, and the reasons why others are bad."""
    plan = ReadPlan((ReadTarget((Field(1, "v", Primitive(kind) if isinstance(kind, str) else kind),)),))
    found = list(read_rows(io.BytesIO(body.encode()), record_format, plan))
    rows = [row["v"] for routed in found if not isinstance(routed, BadRow) for row in routed.rows.to_pylist()]
    return rows, [bad_row.reason for bad_row in found if isinstance(bad_row, BadRow)]


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        ("1.10000000000000000001", "decimal(10, 2)"),
        ("100000000000000000000.5", "decimal(38, 0)"),
        ("0.1000000000000000055", "decimal(10, 2)"),
        ("0.1000000000000000055", "decimal(38, 2)"),
        ("1e-41", "decimal(7, 2)"),
        ("1e-10000000", "decimal(7, 2)"),
        (r'"1e\u002d10000000"', "decimal(7, 2)"),
        ("1e-99999999999999999999", "decimal(38, 2)"),
        ("1e400", "double"),
        ("1e-400", "double"),
    ],
)
def test_a_number_that_would_become_another_one_is_bad(number: str, kind: str) -> None:
    values, [reason] = read(f'{{"v":{number}}}', kind, NDJSON)
    assert values == []
    assert "JSON" in reason or reason.startswith("v: ")


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        ("123456789012345678.12", "decimal(20, 2)"),
        ("100000000000000000000.5", "decimal(38, 2)"),
        ("99999999999999999999999999999999999999", "decimal(38, 0)"),
        ("1.1000000000000000000000000", "decimal(10, 2)"),
        ("0.1000000000000000055", "decimal(38, 19)"),
    ],
)
def test_a_number_comes_with_all_of_its_digits(number: str, kind: str) -> None:
    assert read(f'{{"v":{number}}}', kind, NDJSON) == ([Decimal(number)], [])
    inside = Struct((Field(2, "d", Primitive(kind)),))
    assert read(f'{{"v":{{"d":{number}}}}}', inside, NDJSON) == ([{"d": Decimal(number)}], [])
    assert read(f'v\n"{{""d"":{number}}}"', inside, CSV) == ([{"d": Decimal(number)}], [])


@pytest.mark.parametrize(
    "text",
    ['{"v":1,"v":2}', '{"v":null,"v":null}', '{"v":1,"\\u0076":1}', '{"v":{"a":1,"a":1}}', '{"v":NaN}'],
)
def test_a_name_that_is_there_twice_and_a_bare_nan_are_no_json(text: str) -> None:
    for kind in ("long", "string", Struct((Field(2, "a", Primitive("long")),))):
        values, [reason] = read(text, kind, NDJSON)
        assert values == []
        assert reason.startswith("not JSON: ")


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', '{"a":NaN}', '{"a":Infinity}'])
def test_in_csv_too(text: str) -> None:
    sent = text.replace('"', '""')
    _, [reason] = read(f'v\n"{sent}"', Struct((Field(2, "a", Primitive("double")),)), CSV)
    assert "is not JSON" in reason
    _, [reason] = read(f'v\n"[{sent}]"', ListOf(Field(2, "element", Primitive("double"))), CSV)
    assert "is not JSON" in reason


@pytest.mark.parametrize("text", ["1_000", " 5", "5 ", "٥", "0x1", "1e", "1e-400"])
@pytest.mark.parametrize("kind", ["int", "long", "float", "double", "decimal(9, 2)"])
def test_csv_spells_numbers_in_one_way(text: str, kind: str) -> None:
    values, [reason] = read(f"v\n{text}", kind, CSV)
    assert values == []
    assert reason.startswith("v: ")


@given(some.decimals(allow_nan=False, allow_infinity=False))
def test_a_number_is_a_float_only_where_that_is_the_same(number: Decimal) -> None:
    found = exact_number(str(number))
    assert Decimal(repr(found) if isinstance(found, float) else found) == number


@given(some.decimals(allow_nan=False, allow_infinity=False), some.text())
def test_json_is_written_with_all_digits(number: Decimal, text: str) -> None:
    spelled = f'{{"a": [{number:f}, {json.dumps(text)}], "b": {json.dumps(text)}}}'
    assert exact_json(json_text(exact_json(spelled))) == exact_json(spelled)


@given(some.integers(-60, -10), some.sampled_from(["e", "E"]), some.sampled_from([",", "}", " }", "\n"]))
def test_digits_that_are_far_behind_the_point_are_seen(exponent: int, letter: str, end: str) -> None:
    for number in ("1", "12.5", "0." + "0" * 12 + "1", "-1", "0" * 100):
        for text in (f"{number}{letter}{exponent}", f"{number}{letter}-00{-exponent}"):
            assert has_far_digits(f'{{"a":{text}{end}'.encode())
            assert has_far_digits(f'{{"a":"{text}"{end}'.encode())


def test_uuids_are_no_numbers_whose_digits_are_far_behind() -> None:
    assert not has_far_digits(b'{"a":"123e4567-e89b-12d3-a45e-426614174000","b":1e-9,"c":0.0000000000001}')


@pytest.mark.parametrize("digit_count", [4_001, 5_000, 100_000])
@pytest.mark.parametrize("decode", [exact_json, strict_json])
def test_a_number_with_too_many_digits_is_reported_as_one(
    digit_count: int, decode: Callable[[str], object]
) -> None:
    with pytest.raises(NumberTooLong, match=f"a number has {digit_count} digits, and 4000 at most are read"):
        decode('{"a": [-' + "7" * digit_count + "]}")


@pytest.mark.parametrize("decode", [exact_json, strict_json])
def test_a_name_stands_once_in_each_object_at_any_depth(decode: Callable[[str], object]) -> None:
    for text in ('{"x": 1, "x": 2}', '[{"a": {"x": 1, "x": 1}}]', '{"a": [{"b": [{"": 0, "": 1}]}]}'):
        with pytest.raises(ValueError, match="stands twice"):
            decode(text)


def test_a_number_that_no_float_is_is_none() -> None:
    for text in ("1e400", "-1e999999999"):
        with pytest.raises(NumberTooLong, match="out of all ranges"):
            strict_json(text)
    assert strict_json("[-0, 1e-400, 1.5]") == [0, 0.0, 1.5]
