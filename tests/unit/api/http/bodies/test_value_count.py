"""Bodies without records may have few values; larger ones are refused before they are parsed."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.http.bodies.value_count import MAX_FIELDS, MAX_VALUES, TooManyValues, check_fields, check_value_count
from api.http.schemas.ingests.ingest_request import MAX_FAULTS

pytestmark = pytest.mark.anyio

scalars = st.none() | st.booleans() | st.integers() | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30
)
MANY: list[Callable[[int], str]] = [
    lambda number: "[" + "1," * number + "1]",
    lambda number: "[" + "[]," * number + "1]",
    lambda number: "[" + "{}," * number + "1]",
    lambda number: "[" * number,
    lambda number: json.dumps({f"p{index}": index for index in range(number)}),
    lambda number: json.dumps({"sql": "SELECT 1", "tags": {f"t{index}": "x" for index in range(number)}}),
    lambda number: json.dumps(
        {"sql": "SELECT 1", "parameters": {f"-{index}": [] for index in range(number)}}
    ),
]
LONG = ['\\"' * 500_000, "\\" * 500_001, '"' * 500_001, "[,{" * 100_000 + '\\"', "\\u00e9" * 200_000]


def number_of(value: object) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(number_of, inner))


@given(values)
def test_no_more_values_pass_than_there_are_and_no_text_is_taken_for_values(value: object) -> None:
    text, number = json.dumps(value), number_of(value)
    # An empty list or object counts as if it had a first value.
    check_value_count(text, at_most=2 * number + 1)
    if number > 1:
        with pytest.raises(TooManyValues):
            check_value_count(text, at_most=number // 2)


@pytest.mark.parametrize("inside", LONG)
@pytest.mark.parametrize("end", ['"', ""])
def test_long_strings_are_one_value_whatever_is_in_them(inside: str, end: str) -> None:
    text = json.dumps(inside)[1:-1]
    check_value_count(f'{{"sql": "{text}{end}')


@pytest.mark.parametrize("many", MANY)
@pytest.mark.parametrize("path", ["/query", "/explain", "/streams"])
async def test_a_body_of_many_values_is_refused(
    client: httpx.AsyncClient, path: str, many: Callable[[int], str]
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await client.post(path, content=many(MAX_VALUES + 1), headers=headers)
    assert answer.status_code == 422
    assert f"more than {MAX_VALUES} values" in answer.text


@given(values)
def test_values_that_were_parsed_are_counted_the_same(value: object) -> None:
    number = number_of(value)
    check_fields(value, "a name of none", at_most=number)
    if number > 1:
        with pytest.raises(TooManyValues):
            check_fields(value, "a name of none", at_most=number - 2)


FIELDS: list[dict[str, object]] = [
    {f"p{number}": number for number in range(MAX_FIELDS)},
    {"writeSchema": ["a"] * MAX_FIELDS},
    {"writes": [{"x": number} for number in range(MAX_FIELDS // 2 + 1)]},
    {"writes": [{"schema": {"fields": [{"name": "a"}] * (MAX_FIELDS // 2)}}]},
    {"route": {"field": "a", "to": {f"p{number}": {} for number in range(MAX_FIELDS)}}},
]


@pytest.mark.parametrize("fields", FIELDS)
async def test_an_ingest_of_many_values_beside_its_records_is_refused(
    client: httpx.AsyncClient, fields: dict[str, object]
) -> None:
    answer = await client.post("/ingest", json={"table": "lake.a.b", "records": [1]} | fields)
    assert answer.status_code == 422
    assert f"more than {MAX_FIELDS} values beside its records" in answer.text


async def test_of_many_records_that_are_none_the_first_are_named(client: httpx.AsyncClient) -> None:
    records = [{"a": 1}, *[[]] * 100_000]
    answer = await client.post("/ingest", json={"table": "lake.a.b", "records": records})
    assert answer.status_code == 422
    pointers = [error["pointer"] for error in answer.json()["errors"]]
    assert pointers == [f"/records/{number}" for number in range(1, MAX_FAULTS + 1)]
