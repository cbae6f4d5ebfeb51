"""Records of a JSON body that are read in bulk equal those that are converted one by one."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from service.ingest.decoding.json.records_by_line import json_records
from service.ingest.decoding.json.rows_at_once import rows_at_once
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.read_bounds import DEFAULT_BOUNDS
from service.ingest.decoding.streams.rows import FIRST, TargetRows
from service.ingest.decoding.values.exact_json import exact_json
from service.ingest.decoding.values.record_rows import BATCH_ROWS, RecordRows
from service.ingest.request_rows import Unfit, request_rows
from service.model.ingest.ingest_request import IngestRequest, Route, Write
from service.model.ingest.json_records import JsonRecords
from service.model.ingest.writing import TableKey
from service.model.tables.schemas import Field, Primitive
from service.model.tables.tables import TableName
from tests.fakes.spools import FakeSpools
from tests.unit.ingest.decoding.json.test_fast_rows import KNOWN, LINES, TYPES, VALUES, exactly, fields
from tests.unit.ingest.wide_table import PLACE

LONGS = ReadTarget(fields("long"))
ROUTE = Route("kind", {"x": 0, "y": 1, "7": 0, "true": 1, "ü": 0}, None)


def sent(body: str | bytes) -> JsonRecords | None:
    """Returns the array as received, or None if it cannot be read as lines."""
    try:
        raws = msgspec.json.decode(body, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeEncodeError, UnicodeDecodeError, RecursionError):
        return None
    return json_records(raws, lambda: exact_records(body))


def exact_records(body: str | bytes) -> Any:
    return exact_json(body if isinstance(body, str) else body.decode("utf-8", "surrogatepass"))


def reported(rows: list[TargetRows]) -> list[tuple[int, list[str]]]:
    for row in rows:
        row.rows.validate(full=True)
    return [(row.target, list(map(exactly, row.rows.to_pylist()))) for row in rows]


def one_by_one(body: str | bytes, plan: ReadPlan) -> list[tuple[int, list[str]]] | None:
    """Returns None if a record does not fit."""
    rows = RecordRows(plan)
    if any(rows.take(record, FIRST, b"") for record in exact_records(body)):
        return None
    return reported([batch for batch in rows.batches() if isinstance(batch, TargetRows)])


def agrees(body: str | bytes, plan: ReadPlan) -> None:
    records = sent(body)
    found = None if records is None else rows_at_once(records, plan)
    if found is not None:
        assert reported(list(found)) == one_by_one(body, plan)


@pytest.mark.parametrize("name", TYPES)
def test_known_values_of_every_type_are_those_that_come_one_by_one(name: str) -> None:
    plan = ReadPlan((ReadTarget(fields(name)),))
    for value in KNOWN:
        agrees(f'[{{"c0":{value}}},{{"c0":null}}]', plan)


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=40, deadline=None)
@given(data=some.data())
def test_values_of_every_type_are_those_that_come_one_by_one(name: str, data: some.DataObject) -> None:
    values = data.draw(some.lists(VALUES, min_size=1, max_size=4))
    plan = ReadPlan((ReadTarget(fields(name, required=data.draw(some.booleans()))),))
    spaces = data.draw(some.sampled_from(["", " ", "\n", "\r\n\t"]))
    body = "[" + f"{spaces},{spaces}".join(f'{{"c0":{value}}}' for value in values) + "]"
    agrees(body.encode("utf-8", "surrogatepass"), plan)


@settings(max_examples=300, deadline=None)
@given(some.lists(LINES, min_size=1, max_size=8), some.booleans(), some.booleans())
def test_records_of_any_kind_go_where_those_go_that_are_converted_one_by_one(
    records: list[bytes], has_route: bool, has_kind: bool
) -> None:
    target = ReadTarget(fields("long", "string"))
    kind = Field(9, "kind", Primitive("string"))
    other = ReadTarget((*fields("double", "string"), *([kind] if has_kind else [])))
    agrees(b"[" + b",".join(records) + b"]", ReadPlan((target, other), ROUTE if has_route else None))


@pytest.mark.parametrize("is_quick", [True, False])
def test_a_record_that_does_not_fit_is_stored_as_it_was_sent(is_quick: bool) -> None:
    records = ['{"c0": 123456789012345678.12, "é": [1e400]}', '{"c0": 1}', '{"c0": 1, "x": "naïve \\n"}']
    body = "[" + ",".join(records) + "]"
    found = sent(body) if is_quick else exact_records(body)
    assert found is not None
    write = Write(TableKey(TableName("lake", "logs", "events")), found, place="")
    rows = request_rows(IngestRequest((write,), ""), [LONGS], DEFAULT_BOUNDS, FakeSpools())
    first, second = (row.payload.decode() for row in rows if isinstance(row, Unfit))
    assert exact_json(first) == exact_json(records[0])
    assert first.startswith('{"c0": 123456789012345678.12, ')
    assert exact_json(second) == exact_json(records[2])


def test_usual_records_are_read_at_once() -> None:
    records = sent('[{"c0": 1, "c1": "a"}, {"c1": "b"}]')
    assert records is not None
    found = rows_at_once(records, ReadPlan((ReadTarget(fields("long", "string")),)))
    assert found is not None
    assert [target_rows.rows.to_pylist() for target_rows in found] == [
        [{"c0": 1, "c1": "a"}, {"c0": None, "c1": "b"}]
    ]


def test_with_a_route_targets_come_in_their_order() -> None:
    records = sent('[{"kind": "y", "c0": 1}, {"kind": "x", "c0": 2}, {"kind": "y", "c0": 3}]')
    assert records is not None
    plan = ReadPlan((ReadTarget(fields("long")), ReadTarget(fields("double"))), ROUTE)
    found = rows_at_once(records, plan)
    assert found is not None
    assert [(target_rows.target, target_rows.rows.to_pylist()) for target_rows in found] == [
        (0, [{"c0": 2}]),
        (1, [{"c0": 1.0}, {"c0": 3.0}]),
    ]


@pytest.mark.parametrize(
    ("body", "plan"),
    [
        ('[{"c0": 1.5}]', ReadPlan((ReadTarget(fields("long")),))),
        ('[{"c0": 1}]', ReadPlan((ReadTarget(fields("timestamp_ns")),))),
        ('[{"place": {"street": "a"}}]', ReadPlan((ReadTarget((PLACE,)),))),
        ('[{"kind": "z", "c0": 1}]', ReadPlan((ReadTarget(fields("long")),), ROUTE)),
        ('[{"kind": ["x"], "c0": 1}]', ReadPlan((ReadTarget(fields("long")),), ROUTE)),
        (f"[{','.join(['{}'] * (BATCH_ROWS + 1))}]", ReadPlan((ReadTarget(fields("long")),), ROUTE)),
    ],
)
def test_what_is_not_certain_is_converted_one_by_one(body: str, plan: ReadPlan) -> None:
    records = sent(body)
    assert records is not None
    assert rows_at_once(records, plan) is None


@pytest.mark.parametrize("body", ["[]", "[1]", '[{"a":\n1}]', '["{}"]', "[[]]", "[{}, 1, {}]"])
def test_what_does_not_lie_there_as_lines_is_none_of_them(body: str) -> None:
    assert sent(body) is None


def test_a_bad_record_is_reported_with_its_place_and_as_it_was_sent() -> None:
    body = '[{"c0": 1}, {"c0": "one"}, {"c0": 3}]'
    key = TableKey(TableName("lake", "logs", "events"))
    plain = Write(key, json.loads(body), place="/writes/0")
    lines = sent(body)
    assert lines is not None
    quick = Write(key, lines, place="/writes/0")
    expected, found = (
        list(request_rows(IngestRequest((write,), ""), [LONGS], DEFAULT_BOUNDS, FakeSpools()))
        for write in (plain, quick)
    )
    assert found[0] == expected[0]
    assert [rows.rows.to_pylist() for rows in found[1:] if isinstance(rows, TargetRows)] == [
        [{"c0": 1}, {"c0": 3}]
    ]


def test_values_are_parsed_once_and_only_when_they_are_needed() -> None:
    calls: list[int] = []

    def parse() -> list[dict[str, object]]:
        calls.append(1)
        return [{"a": 1}, {"a": 2}]

    records = json_records([b'{"a":1}', b'{"a":2}'], parse)
    assert records is not None
    assert (len(records), calls) == (2, [])
    assert (list(records), records[1], records[:1]) == ([{"a": 1}, {"a": 2}], {"a": 2}, [{"a": 1}])
    assert calls == [1]
