"""Records that delete: in every format, their rows are marked in their order, or they do not fit."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.read_rows import read_rows
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.rows import BadRow, TargetRows
from service.model.ingest.ingest_request import Route
from service.model.ingest.record_deletes import DELETE_MARK, DeleteWhen, Envelope, RecordDeletes
from service.model.ingest.record_formats import RecordFormat
from service.model.tables.partition_rules import PartitionRule, PartitionRules
from service.model.tables.schemas import Field, Primitive

ID = Field(1, "id", Primitive("long"), is_required=True)
NAME = Field(2, "name", Primitive("string"), is_required=True)
PRICE = Field(3, "price", Primitive("decimal(9, 2)"))
ALWAYS = ReadTarget((ID,), deletes=RecordDeletes(("id",)))
WHEN = RecordDeletes(("id",), DeleteWhen("op", frozenset({"D", "true", "4"})))
BY_FIELD = ReadTarget((ID, NAME, PRICE), deletes=WHEN)
EVENTS = ReadTarget((ID, NAME, PRICE), deletes=RecordDeletes(("id",), envelope=Envelope.DEBEZIUM))
FORMATS = [RecordFormat.NDJSON, RecordFormat.CSV, RecordFormat.ARROW_STREAM]


def read(
    target: ReadTarget,
    *records: Any,
    form: RecordFormat = RecordFormat.NDJSON,
    route: Route | None = None,
) -> tuple[list[tuple[Any, ...]], list[tuple[int, str]]]:
    """Returns the rows with their marks last, and what is wrong with the records at these numbers."""
    rows: list[tuple[Any, ...]] = []
    bad: list[tuple[int, str]] = []
    for part in read_rows(io.BytesIO(body(form, records)), form, ReadPlan((target,), route)):
        if isinstance(part, BadRow):
            bad.append((part.position.number, part.reason))
        else:
            assert part.rows.schema.names == [*(field.name for field in target.fields), DELETE_MARK]
            rows += [tuple(row.values()) for row in part.rows.to_pylist()]
    return rows, bad


def body(form: RecordFormat, records: tuple[Any, ...]) -> bytes:
    if form is RecordFormat.NDJSON:
        return b"\n".join(json.dumps(record).encode() for record in records)
    names = list(dict.fromkeys(name for record in records for name in record))
    if form is RecordFormat.CSV:
        lines = [",".join(str(record.get(name) or "") for name in names) for record in records]
        return "".join(f"{line}\n" for line in (",".join(names), *lines)).encode()
    sink = io.BytesIO()
    table = pa.Table.from_pylist(list(records))
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("form", FORMATS)
def test_records_of_keys_alone_delete(form: RecordFormat) -> None:
    assert read(ALWAYS, {"id": 7}, {"id": 8}, {"id": 7}, form=form)[0] == [(7, True), (8, True), (7, True)]


def test_a_delete_by_more_than_its_key_is_no_delete_of_all_rows_with_that_key() -> None:
    assert read(ALWAYS, {"id": 7, "name": "tea"}, {"id": 8}) == ([(8, True)], [(1, "there is no field name")])
    with pytest.raises(IngestInvalid, match="no column 'name'"):
        read(ALWAYS, {"id": 7, "name": "tea"}, form=RecordFormat.CSV)


@pytest.mark.parametrize("form", FORMATS)
def test_a_record_with_one_of_the_values_needs_only_its_key(form: RecordFormat) -> None:
    records = [
        {"id": 1, "name": "a", "op": "I"},
        {"id": 2, "name": None, "op": "D"},
        {"id": 1, "name": "b", "op": None},
        {"id": 1, "name": "c", "op": "D"},
        {"id": 3, "name": "d", "op": "d"},
    ]
    rows, bad = read(BY_FIELD, *records, form=form)
    assert bad == []
    assert rows == [
        (1, "a", None, False),
        (2, None, None, True),
        (1, "b", None, False),
        (1, None, None, True),
        (3, "d", None, False),
    ]


def test_values_match_as_json_spells_them_and_null_never_does() -> None:
    values = [True, "true", 4, "4", 4.0, None, [], "D "]
    rows, _ = read(BY_FIELD, *({"id": number, "name": "a", "op": op} for number, op in enumerate(values)))
    assert [row[0] for row in rows if row[-1]] == [0, 1, 2, 3]
    assert read(BY_FIELD, {"id": 1, "name": "a"}) == ([(1, "a", None, False)], [])


@pytest.mark.parametrize("form", [RecordFormat.NDJSON, RecordFormat.ARROW_STREAM])
def test_what_does_not_fit_is_reported_whatever_the_record_does(form: RecordFormat) -> None:
    records: list[dict[str, Any]] = [
        {"id": 1, "name": "a", "op": "I"},
        {"id": None, "name": "a", "op": "D"},
        {"id": 3, "name": None, "op": "I"},
        {"id": 4, "name": "b", "op": "D"},
    ]
    rows, bad = read(BY_FIELD, *records, form=form)
    assert rows == [(1, "a", None, False), (4, None, None, True)]
    assert [number for number, _ in bad] == [2, 3]


def test_a_record_that_names_no_key_deletes_no_rows_without_one() -> None:
    optional = ReadTarget((replace(ID, is_required=False), NAME), deletes=WHEN)
    # The name of the key is misspelled, and other fields of a delete are ignored.
    rows, bad = read(optional, {"Id": 7, "op": "D"}, {"id": None, "op": "D"}, {"name": "a", "op": "U"})
    assert (rows, [number for number, _ in bad]) == ([(None, None, True), (None, "a", False)], [1])
    assert "id identifies the row" in bad[0][1]


def test_a_delete_of_a_part_of_a_key_does_not_fit() -> None:
    fields = tuple(replace(field, is_required=False) for field in (ID, NAME))
    target = ReadTarget(fields, deletes=RecordDeletes(("id", "name")))
    rows, bad = read(target, {"id": 1, "name": None}, {"id": 2}, {}, {"id": None, "name": "a"})
    assert rows == [(1, None, True), (None, "a", True)]
    assert [reason for _, reason in bad] == [
        "name identifies the row, and was not sent",
        "id, name identifies the row, and was not sent",
    ]


def test_in_csv_a_key_without_a_value_is_null() -> None:
    optional = ReadTarget((replace(ID, is_required=False), NAME), deletes=WHEN)
    records = [{"id": None, "op": "D"}, {"id": 7, "op": "D"}]
    assert read(optional, *records, form=RecordFormat.CSV)[0] == [(None, None, True), (7, None, True)]


@pytest.mark.parametrize("form", [RecordFormat.CSV, RecordFormat.ARROW_STREAM])
@pytest.mark.parametrize("deletes", [WHEN, RecordDeletes(("id",))])
def test_columns_without_a_key_delete_no_rows_without_one(form: RecordFormat, deletes: RecordDeletes) -> None:
    optional = ReadTarget((replace(ID, is_required=False), NAME), deletes=deletes)
    records = [{"name": "a", "op": "D"}] if deletes is WHEN else [{"name": None}, {"name": None}]
    with pytest.raises(IngestInvalid, match="no column 'id', which identifies"):
        read(optional, *records, form=form)
    # Records of another route may have other columns.
    plan = ReadPlan((optional, ReadTarget((NAME,))), Route("name", {"a": 1}, 0))
    [part] = read_rows(io.BytesIO(body(form, ({"name": "a"},))), form, plan)
    assert isinstance(part, TargetRows)
    assert part.target == 1


def test_the_field_may_be_a_column_too() -> None:
    both = ReadTarget((ID, Field(2, "op", Primitive("string"))), deletes=WHEN)
    assert read(both, {"id": 1, "op": "I"}, {"id": 2, "op": "D"})[0] == [(1, "I", False), (2, None, True)]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("field", ["op", "kind"])
def test_a_route_may_go_by_the_field_that_deletes(form: RecordFormat, field: str) -> None:
    records = [
        {"id": 1, "name": "a", "op": "I", "kind": "I"},
        {"id": 1, "name": "b", "op": "D", "kind": "D"},
        {"id": 2, "name": "c", "op": "U", "kind": "D"},
    ]
    if field == "op":
        records = [{name: value for name, value in record.items() if name != "kind"} for record in records]
    rows, bad = read(BY_FIELD, *records, form=form, route=Route(field, {"I": 0, "U": 0, "D": 0}))
    assert bad == []
    assert rows == [(1, "a", None, False), (1, None, None, True), (2, "c", None, False)]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([2**62, None], pa.timestamp("s")),
        pa.array([b"D", b"D"]),
        pa.array([["D"], None]),
        pa.array([{"D": 1}, {"D": 2}]),
    ],
    ids=["far", "binary", "list", "struct"],
)
def test_a_column_of_another_kind_never_deletes(values: pa.Array) -> None:
    table = pa.table({"id": [1, 2], "name": ["a", "b"], "op": values})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    sink.seek(0)
    [rows] = [
        part
        for part in read_rows(sink, RecordFormat.ARROW_STREAM, ReadPlan((BY_FIELD,)))
        if isinstance(part, TargetRows)
    ]
    assert rows.rows.column(DELETE_MARK).to_pylist() == [False, False]


@pytest.mark.parametrize("kind", [pa.dictionary(pa.int8(), pa.string()), pa.large_string()])
def test_texts_of_every_kind_delete(kind: pa.DataType) -> None:
    table = pa.table({"id": [1, 2], "name": ["a", "b"], "op": pa.array(["D", "I"]).cast(kind)})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    sink.seek(0)
    parts = list(read_rows(sink, RecordFormat.ARROW_STREAM, ReadPlan((BY_FIELD,))))
    assert [part.rows.column(DELETE_MARK).to_pylist() for part in parts if isinstance(part, TargetRows)] == [
        [True, False]
    ]


def test_events_of_debezium_write_and_delete() -> None:
    rows, bad = read(
        EVENTS,
        {"op": "r", "before": None, "after": {"id": 1, "name": "a", "price": "1.00"}, "source": {}},
        {"schema": {}, "payload": {"op": "c", "after": {"id": 2, "name": "b"}}},
        {"op": "u", "before": {"id": 1, "name": "a"}, "after": {"id": 3, "name": "c"}},
        {"op": "u", "before": {"id": 3}, "after": {"id": 3, "name": "d"}},
        {"op": "d", "before": {"id": 2, "name": None, "other": 7}, "after": None},
        None,
        {"schema": None, "payload": None},
    )
    assert bad == []
    assert [(row[0], row[1], row[-1]) for row in rows] == [
        (1, "a", False),
        (2, "b", False),
        # The row had another key before.
        (1, None, True),
        (3, "c", False),
        (3, "d", False),
        (2, None, True),
    ]


AT = Field(4, "at", Primitive("long"))
ORDERED = ReadTarget((ID, AT), deletes=RecordDeletes(("id",), WHEN.when, order="at"))


@pytest.mark.parametrize("form", FORMATS)
def test_a_delete_has_its_order_beside_its_key(form: RecordFormat) -> None:
    records = [{"id": 1, "at": 5, "op": "D"}, {"id": 2, "at": None, "op": "D"}]
    rows, bad = read(ORDERED, *records, form=form)
    assert (rows, bad) == ([(1, 5, True), (2, None, True)], [])


def test_a_delete_whose_order_was_forgotten_does_not_fit() -> None:
    rows, [(number, reason)] = read(ORDERED, {"id": 1, "op": "D"}, {"id": 1, "at": None})
    assert (rows, number) == ([(1, None, False)], 1)
    assert "at orders the records, and was not sent" in reason
    with pytest.raises(IngestInvalid, match="no column 'at'"):
        read(ORDERED, {"id": 1, "op": "D"}, form=RecordFormat.CSV)


def test_events_of_debezium_have_the_order_of_their_rows() -> None:
    deletes = RecordDeletes(("id",), envelope=Envelope.DEBEZIUM, order="price")
    rows, [(number, reason)] = read(
        ReadTarget((ID, PRICE), deletes=deletes),
        {"op": "u", "before": {"id": 1, "price": "1"}, "after": {"id": 2, "price": "2"}},
        # The key is the same, whatever became of the order.
        {"op": "u", "before": {"id": 2, "price": "2"}, "after": {"id": 2, "price": "3"}},
        {"op": "d", "before": {"id": 2, "price": "3"}},
        {"op": "d", "before": {"id": 2, "price": None}},
    )
    two, three = Decimal("2.00"), Decimal("3.00")
    assert rows == [(1, two, True), (2, two, False), (2, three, False), (2, three, True)]
    assert (number, "price orders the events, and was not sent" in reason) == (4, True)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"op": "t"}, "no operation 't'"),
        ({"op": "m", "message": {}}, "no operation 'm'"),
        ({"id": 1}, "no operation None"),
        ({"op": ["c"]}, "no operation"),
        ({"op": "c"}, "after: an object is wanted"),
        ({"op": "d", "before": None}, "before: an object is wanted"),
        ({"op": "d", "before": {"name": "a"}}, "before: id identifies the row"),
        ({"op": "d", "before": {"id": None}}, "id is required"),
        ({"op": "c", "after": {"id": 1, "name": "a", "extra": 1}}, "there is no field extra"),
        ({"op": "u", "after": {"id": 1, "name": "__debezium_unavailable_value"}}, "name did not change"),
        ({"payload": 7}, "an object is wanted"),
        (7, "an object is wanted"),
    ],
)
def test_other_events_do_not_fit(event: Any, words: str) -> None:
    rows, [(number, reason)] = read(EVENTS, event, {"op": "c", "after": {"id": 1, "name": "x"}})
    assert [row[0] for row in rows] == [1]
    assert (number, words in reason) == (1, True), reason


@pytest.mark.parametrize(
    "value",
    [
        "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==",
        ["__debezium_unavailable_value"],
        ["X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="],
        ["b68a35a7-17ad-35b3-af2a-ae46edb4545a"],
        list(b"__debezium_unavailable_value"),
        {"__debezium_unavailable_value": "__debezium_unavailable_value"},
        '{"__debezium_unavailable_value":"__debezium_unavailable_value"}',
    ],
    ids=["bytes", "texts", "arrays of bytes", "uuids", "numbers", "map", "map as text"],
)
def test_a_value_that_was_not_sent_is_no_value(value: Any) -> None:
    # The column's type does not matter: no row is made.
    rows, [(_, reason)] = read(EVENTS, {"op": "u", "after": {"id": 1, "name": value}})
    assert (rows, "name did not change and was not sent" in reason) == ([], True)


def test_an_event_without_a_partition_changes_nothing() -> None:
    rules = PartitionRules((PartitionRule("part", ("id",), "long", "truncate[10]"),))
    least = -(2**63)
    target = ReadTarget(EVENTS.fields, partition=rules, deletes=EVENTS.deletes)
    moved = {"op": "u", "before": {"id": 5}, "after": {"id": least, "name": "a"}}
    rows, bad = read(target, moved, {"op": "d", "before": {"id": 7}})
    assert [number for number, _ in bad] == [1]
    assert [(row[0], row[-1]) for row in rows] == [(7, True)]


@pytest.mark.parametrize("form", [RecordFormat.ARROW_STREAM])
def test_only_json_has_envelopes(form: RecordFormat) -> None:
    with pytest.raises(IngestInvalid, match="Only JSON"):
        read(EVENTS, {"id": 1, "name": "a"}, form=form)
