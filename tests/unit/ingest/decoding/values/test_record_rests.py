"""The rest of records: in every format, the fields without a column are one value, and none is lost."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as some

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.decoding.streams.rows import BadRow, Position, TargetRows
from service.ingest.decoding.values.exact_json import exact_json
from service.ingest.decoding.values.record_rows import RecordRows
from service.model.ingest.ingest_request import Route
from service.model.ingest.record_deletes import DELETE_MARK, DeleteWhen, Envelope, RecordDeletes
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.record_rest import MAX_REST_DEPTH, RecordRest
from service.model.ingest.validation_schema import (
    ReadAs,
    ValidatedSchemas,
    validated_schemas_from_bytes,
    validated_schemas_to_bytes,
)
from service.model.tables.schemas import Field, Primitive, Struct

ID = Field(1, "id", Primitive("long"))
MORE = Field(2, "more", Primitive("string"))
REST = RecordRest("more")
TARGET = ReadTarget((ID, MORE), rest=REST)
FORMATS = [RecordFormat.NDJSON, RecordFormat.CSV, RecordFormat.ARROW_STREAM, RecordFormat.PARQUET]

Read = tuple[list[dict[str, Any]], list[tuple[int, str]]]


def read(
    target: ReadTarget, body: bytes, form: RecordFormat = RecordFormat.NDJSON, route: Route | None = None
) -> Read:
    """Returns the rows, and what is wrong with the records at these numbers."""
    rows: list[dict[str, Any]] = []
    bad: list[tuple[int, str]] = []
    for part in read_rows(io.BytesIO(body), form, ReadPlan((target,), route)):
        if isinstance(part, BadRow):
            bad.append((part.position.number, part.reason))
        else:
            names = [field.name for field in target.fields]
            assert [name for name in part.rows.schema.names if name != DELETE_MARK] == names
            part.rows.validate(full=True)
            rows += part.rows.to_pylist()
    return rows, bad


def lines(*records: Any) -> bytes:
    return b"\n".join(json.dumps(record).encode() for record in records)


def arrow(*records: Any) -> bytes:
    table = pa.Table.from_pylist(list(records))
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def parquet(*records: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(records)), sink, row_group_size=2)
    return sink.getvalue()


IN_COLUMNS = {"id": 1, "a": "x", "b": "y"}, {"id": 2, "a": None, "b": None}, {"id": 3, "a": None, "b": "z"}
BODIES = {
    RecordFormat.NDJSON: lines({"id": 1, "a": "x", "b": "y"}, {"id": 2}, {"b": "z", "id": 3}),
    RecordFormat.CSV: b"id,a,b\n1,x,y\n2,,\n3,,z\n",
    RecordFormat.ARROW_STREAM: arrow(*IN_COLUMNS),
    RecordFormat.PARQUET: parquet(*IN_COLUMNS),
}


@pytest.mark.parametrize("form", FORMATS)
def test_fields_without_a_column_are_one_value_and_none_are_null(form: RecordFormat) -> None:
    expected = [
        {"id": 1, "more": '{"a":"x","b":"y"}'},
        {"id": 2, "more": None},
        {"id": 3, "more": '{"b":"z"}'},
    ]
    assert read(TARGET, BODIES[form], form) == (expected, [])
    if form is not RecordFormat.NDJSON:
        with pytest.raises(IngestInvalid, match="no column 'a', 'b'"):
            read(replace(TARGET, rest=None), BODIES[form], form)


@pytest.mark.parametrize("form", FORMATS)
def test_a_record_has_no_value_for_the_column_itself(form: RecordFormat) -> None:
    bodies = {
        RecordFormat.NDJSON: lines({"id": 1, "more": "x"}, {"id": 2, "a": 1}),
        RecordFormat.CSV: b"id,more,a\n1,x,\n2,,1\n",
        RecordFormat.ARROW_STREAM: arrow({"id": 1, "more": "x", "a": None}, {"id": 2, "more": None, "a": 1}),
        RecordFormat.PARQUET: parquet({"id": 1, "more": "x", "a": None}, {"id": 2, "more": None, "a": 1}),
    }
    rows, bad = read(TARGET, bodies[form], form)
    assert [row["id"] for row in rows] == [2]
    [(_, reason)] = bad
    assert reason == "more takes the rest of the record, and cannot be sent itself"


def test_even_null_is_a_value_of_the_column_in_json() -> None:
    assert len(read(TARGET, lines({"id": 1, "more": None}))[1]) == 1


def test_names_are_compared_as_they_are_spelled() -> None:
    assert read(TARGET, lines({"ID": 1, "More": 2}))[0] == [{"id": None, "more": '{"ID":1,"More":2}'}]


def test_nested_fields_without_a_column_do_not_fit() -> None:
    place = Field(3, "place", Struct((Field(4, "city", Primitive("string")),)))
    rows, bad = read(ReadTarget((ID, place, MORE), rest=REST), lines({"place": {"city": "Ulm", "x": 1}}))
    assert (rows, bad) == ([], [(1, "place: there is no field x")])


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        ("12345678901234567890123", "12345678901234567890123"),
        ("0.10000000000000000001", "0.10000000000000000001"),
        ("1e400", "1E+400"),
        ("1.50", "1.5"),
        ("-0.0", "-0.0"),
        ("true", "true"),
        ("null", "null"),
        ('"\\u00e9\\n\\u0000"', '"é\\n\\u0000"'),
        ("[ ]", "[]"),
        ('{"b": 1, "a": {}}', '{"b":1,"a":{}}'),
    ],
)
def test_values_stay_as_they_are_without_spaces(sent: str, text: str) -> None:
    body = f'{{"id": 1, "x": {sent}}}'.encode()
    assert read(TARGET, body) == ([{"id": 1, "more": f'{{"x":{text}}}'}], [])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"id": 1, "x": 1, "x": 2}', "not JSON: the name 'x' stands twice in one object"),
        (b'{"id": 1, "x": {"y": 1, "y": 2}}', "not JSON: the name 'y' stands twice in one object"),
        (b'{"id": 1, "x": NaN}', "not JSON: NaN has to stand in quotes"),
        (b'{"id": 1, "x": "\\ud800"}', "more: the rest of the record has a text that is not Unicode"),
        (b'{"id": "x", "y": 1}', "id: 'x' is not of type long"),
        (b"[1]", "an object is wanted"),
    ],
)
def test_what_does_not_fit_is_not_hidden_in_the_rest(body: bytes, reason: str) -> None:
    assert read(TARGET, body) == ([], [(1, reason)])


def test_a_rest_has_a_greatest_size_and_depth() -> None:
    small = replace(TARGET, rest=RecordRest("more", max_bytes=10))
    rows, bad = read(small, lines({"x": "123"}, {"x": "12"}, {"x": "éé"}))
    assert [row["more"] for row in rows] == ['{"x":"12"}']
    reason = "more: the rest of the record has {} bytes, and at most 10 are taken".format
    assert bad == [(1, reason(11)), (3, reason(12))]
    rows, bad = read(small, arrow({"x": "123"}, {"x": "12"}), RecordFormat.ARROW_STREAM)
    assert ([row["more"] for row in rows], [n for n, _ in bad]) == (['{"x":"12"}'], [1])
    for levels, fits in ((MAX_REST_DEPTH - 1, True), (MAX_REST_DEPTH, False)):
        body = b'{"x": ' + b"[" * levels + b"]" * levels + b"}"
        assert bool(read(TARGET, body)[0]) is fits
    flat = lines({"x": [[]] * 2 * MAX_REST_DEPTH, "y": "{[" * MAX_REST_DEPTH})
    assert len(read(TARGET, flat)[0]) == 1


def test_a_required_rest_has_a_value() -> None:
    target = ReadTarget((ID, replace(MORE, is_required=True)), rest=REST)
    reason = "more is required, and the record has no other fields"
    assert read(target, lines({"id": 1}, {"id": 2, "x": 1}))[1] == [(1, reason)]
    body = arrow({"id": 1, "x": None}, {"id": 2, "x": 1})
    assert read(target, body, RecordFormat.ARROW_STREAM) == ([{"id": 2, "more": '{"x":1}'}], [(1, reason)])


def test_columns_of_arrow_are_values_of_json() -> None:
    record = {"d": Decimal("1.50"), "f": 0.1, "b": b"x", "l": [1, None], "s": {"t": None, "u": True}}
    expected = '{"d":1.50,"f":0.1,"b":"eA==","l":[1,null],"s":{"t":null,"u":true}}'
    rows, _ = read(TARGET, arrow({"id": 1} | record), RecordFormat.ARROW_STREAM)
    assert rows == [{"id": 1, "more": expected}]


def test_a_table_may_have_the_rest_alone() -> None:
    alone = ReadTarget((MORE,), rest=REST)
    assert read(alone, lines({}, {"x": 1}))[0] == [{"more": None}, {"more": '{"x":1}'}]
    body = arrow({"x": None}, {"x": 1})
    assert read(alone, body, RecordFormat.ARROW_STREAM)[0] == [{"more": None}, {"more": '{"x":1}'}]


DELETES = RecordDeletes(("id",), DeleteWhen("op", frozenset({"D"})))


@pytest.mark.parametrize("form", [RecordFormat.NDJSON, RecordFormat.ARROW_STREAM])
def test_records_that_delete_have_no_rest(form: RecordFormat) -> None:
    target = replace(TARGET, deletes=DELETES)
    records = {"op": "D", "id": 1, "x": 1}, {"op": "U", "id": 2, "x": 2}, {"op": None, "id": 3, "x": None}
    body = arrow(*records) if form is RecordFormat.ARROW_STREAM else lines(*records)
    rows, bad = read(target, body, form)
    nulls = None if form is RecordFormat.ARROW_STREAM else '{"op":null,"x":null}'
    expected = [(1, None, True), (2, '{"op":"U","x":2}', False), (3, nulls, False)]
    assert ([tuple(row.values()) for row in rows], bad) == (expected, [])


def test_events_have_the_rest_of_the_row_after() -> None:
    target = replace(TARGET, deletes=RecordDeletes(("id",), envelope=Envelope.DEBEZIUM))
    update = {"op": "u", "before": {"id": 1, "x": 1}, "after": {"id": 2, "x": 2}, "ts_ms": 5}
    rows, _ = read(target, lines(update, {"op": "d", "before": {"id": 2, "x": 2}, "after": None}))
    assert [tuple(row.values()) for row in rows] == [(1, None, True), (2, '{"x":2}', False), (2, None, True)]


@pytest.mark.parametrize("form", FORMATS)
def test_the_field_of_the_route_is_in_the_rest(form: RecordFormat) -> None:
    route = Route("a", {}, 0)
    rows, bad = read(TARGET, BODIES[form], form, route)
    assert not bad
    assert sorted(str(row["more"]) for row in rows) == ["None", '{"a":"x","b":"y"}', '{"b":"z"}']


KEYS = some.sampled_from(["id", "kind", "a", "b", "A", "ä", "", "more "])
SCALARS = some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False)
JSON = some.recursive(
    SCALARS | some.text(some.characters(exclude_categories=["Cs"])),
    lambda inside: some.lists(inside, max_size=3) | some.dictionaries(KEYS, inside, max_size=3),
    max_leaves=8,
)
RECORDS = some.lists(
    some.dictionaries(KEYS, JSON, max_size=5).map(
        lambda record: {
            name: value
            for name, value in record.items()
            if name not in ("id", "kind") or value is None or isinstance(value, str)
        }
    ),
    max_size=6,
)


@given(RECORDS)
def test_the_columns_and_the_rest_are_the_record(records: list[dict[str, Any]]) -> None:
    columns = Field(1, "id", Primitive("string")), Field(3, "kind", Primitive("string"))
    target = ReadTarget((columns[0], MORE, columns[1]), rest=REST)
    rows, bad = read(target, lines(*records))
    assert not bad
    for record, row in zip(records, rows, strict=True):
        model = {name: value for name, value in record.items() if name not in ("id", "kind")}
        assert (row["id"], row["kind"]) == (record.get("id"), record.get("kind"))
        assert row["more"] is None if not model else exact_json(row["more"]) == exact_json(json.dumps(model))
    # A record of a JSON body is the same values.
    collected = RecordRows(ReadPlan((target,)))
    for at, record in enumerate(records):
        assert collected.take(exact_json(json.dumps(record)), Position(at), b"") is None
    parts = [part for part in collected.batches() if isinstance(part, TargetRows)]
    found = [row for part in parts for row in part.rows.to_pylist()]
    assert found == rows


@pytest.mark.parametrize("form", [RecordFormat.CSV, RecordFormat.ARROW_STREAM])
def test_names_that_were_sent_once_count_in_each_rest(form: RecordFormat) -> None:
    name, count = "x" * 1_000_000, 50
    body = f"id,{name}\n".encode() + b"1,2\n" * count
    if form is RecordFormat.ARROW_STREAM:
        body = arrow(*[{"id": 1, name: "2"}] * count)
    plan = ReadPlan((TARGET,))
    parts = list(read_rows(io.BytesIO(body), form, plan))
    sizes = [part.rows.num_rows for part in parts if isinstance(part, TargetRows)]
    assert (sum(sizes), len(parts)) == (count, len(sizes))
    assert max(sizes) <= 5
    with pytest.raises(IngestInvalid, match="SLUICE_INGEST_MAX_DECOMPRESSED_BYTES"):
        list(read_rows(io.BytesIO(body), form, plan, bounds=ReadBounds(body_bytes=20_000_000)))


def test_dead_letters_are_found_by_the_same_rest() -> None:
    schemas = ValidatedSchemas((ReadAs((ID, MORE), rest=RecordRest("more", 10)), ReadAs((ID,))))
    assert validated_schemas_from_bytes(validated_schemas_to_bytes(schemas)) == schemas
