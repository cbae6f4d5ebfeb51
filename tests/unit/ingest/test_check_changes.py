"""Checks of requests whose records delete, before any table is looked at, and their commits."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from service.errors.ingest_errors import IngestInvalid, RecordsInvalid, WriteSchemaInvalid
from service.ingest.check_changes import check_changes
from service.model.ingest.ingest import IngestCommit
from service.model.ingest.ingest_request import (
    ColumnNames,
    InferredColumns,
    IngestRequest,
    Route,
    StreamedRecords,
    Write,
    WriteFault,
)
from service.model.ingest.json_records import JsonRecords
from service.model.ingest.record_deletes import DeleteWhen, Envelope
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.sources import SourceRecords
from service.model.policies.decisions import FULL_ACCESS
from service.model.tables.schemas import TableSchema
from service.model.tables.table_creation import RequestedSchema, TableLayout
from tests.fakes.ingest_service import FakeIngests
from tests.unit.ingest.wide_table import DAY, ID, NOTE, TABLE, with_columns

WITHIN_S = 20
WHEN = DeleteWhen("op", frozenset({"D"}))
UPSERT = Write(TABLE.key, (), place="/writes/0", is_upsert=True, equality_fields=("id",))
DELETE = replace(UPSERT, is_delete=True)
EVENTS = replace(UPSERT, envelope=Envelope.DEBEZIUM)
FLAT = with_columns(ID, DAY, replace(NOTE, is_required=True))


@pytest.fixture
def ingests() -> Iterator[FakeIngests]:
    made = FakeIngests(FLAT)
    yield made
    made.close(WITHIN_S)


def commit_of(ingests: FakeIngests, write: Write, *records: dict[str, Any]) -> IngestCommit:
    request = IngestRequest((replace(write, records=records),), "")
    accepted = ingests.accept(request, "ann", FULL_ACCESS)
    accepted.settled.result(WITHIN_S)
    [commit] = ingests.find(accepted.record.ingest_id, "ann").commits
    assert commit.snapshot_id is not None
    return commit


@pytest.mark.parametrize("write", [UPSERT, DELETE, EVENTS, replace(UPSERT, delete_when=WHEN)])
def test_each_way_alone_is_fine(write: Write) -> None:
    check_changes(IngestRequest((write,), ""))


@pytest.mark.parametrize(
    ("write", "names"),
    [
        (replace(DELETE, write_schema=ColumnNames(("id",))), ["writeSchema"]),
        (replace(DELETE, sort_order=(), delete_when=WHEN), ["sortOrder", "deleteWhen"]),
        (replace(DELETE, schema=RequestedSchema(TableSchema(0, (ID,)))), ["schema"]),
        (replace(DELETE, schema=RequestedSchema(None, create=TableLayout())), ["create"]),
        (replace(DELETE, envelope=Envelope.DEBEZIUM), ["envelope"]),
        (replace(UPSERT, is_upsert=False, delete_when=WHEN), ["deleteWhen"]),
        (replace(EVENTS, is_upsert=False), ["envelope"]),
        (
            replace(EVENTS, delete_when=WHEN, write_schema=InferredColumns.INFER),
            ["deleteWhen", "writeSchema"],
        ),
        (replace(DELETE, order_by="day"), ["orderBy"]),
        (replace(DELETE, rest="note"), ["rest"]),
        (replace(UPSERT, is_upsert=False, equality_fields=None, order_by="day"), ["orderBy"]),
        (replace(UPSERT, order_by="day"), ["orderBy"]),
    ],
)
def test_contradictions_are_reported_all_at_once(write: Write, names: list[str]) -> None:
    with pytest.raises(IngestInvalid) as refused:
        check_changes(IngestRequest((UPSERT, write), ""))
    faults = [fault for fault in refused.value.violations if isinstance(fault, WriteFault)]
    assert [fault.place for fault in faults] == [f"/writes/0/{name}" for name in names]
    assert refused.value.detail == faults[0].reason


def test_all_writes_of_a_request_to_a_table_have_one_order_and_one_key() -> None:
    ordered = replace(UPSERT, order_by="day")
    other_table = replace(UPSERT, key=replace(UPSERT.key, branch="audit"))
    check_changes(IngestRequest((ordered, ordered, other_table), ""))
    for other in (
        UPSERT,
        DELETE,
        replace(ordered, order_by="note"),
        replace(ordered, equality_fields=("day",)),
    ):
        with pytest.raises(IngestInvalid, match="same orderBy and equalityFields"):
            check_changes(IngestRequest((ordered, other), ""))
    with pytest.raises(IngestInvalid, match="same orderBy and equalityFields"):
        check_changes(IngestRequest((ordered, Write(UPSERT.key, ())), ""))


@pytest.mark.parametrize(
    "request_",
    [
        IngestRequest((EVENTS,), "", route=Route("op", {"c": 0})),
        IngestRequest((EVENTS,), "", executed=SourceRecords("file:///a", RecordFormat.PARQUET, None)),
        IngestRequest((EVENTS,), "", shared=StreamedRecords(io.BytesIO, RecordFormat.CSV)),
    ],
    ids=["routed", "source", "body"],
)
def test_events_are_json_and_of_one_table(request_: IngestRequest) -> None:
    with pytest.raises(IngestInvalid) as refused:
        check_changes(request_)
    assert [fault.place for fault in refused.value.violations] == ["/writes/0/envelope"]  # type: ignore[attr-defined]
    check_changes(replace(request_, route=None, executed=None, shared=None))


def test_a_delete_needs_no_required_column_and_counts_keys(ingests: FakeIngests) -> None:
    commit = commit_of(ingests, DELETE, {"id": 1}, {"id": 2}, {"id": 1})
    [target] = commit.targets
    assert (target.record_count, target.delete_count, target.data_file_count) == (0, 2, 0)
    assert (target.column_ids, target.equality_field_ids) == ((1,), (1,))


def test_a_delete_of_a_part_of_a_key_is_refused_however_it_is_read(ingests: FakeIngests) -> None:
    by_two = replace(DELETE, equality_fields=("id", "day"))
    lines = b'{"id": 1, "day": null}\n{"id": 2}'
    at_once = JsonRecords(lines, 2, lambda: [{"id": 1, "day": None}, {"id": 2}])
    for records in (at_once, list(at_once)):
        request = IngestRequest((replace(by_two, records=records),), "")
        with pytest.raises(RecordsInvalid) as refused:
            ingests.accept(request, "ann", FULL_ACCESS)
        assert "day identifies the row, and was not sent" in str(refused.value.violations)
    commit = commit_of(ingests, by_two, {"id": 1, "day": None})
    assert commit.targets[0].delete_count == 1


def test_the_last_record_of_a_key_decides_between_its_row_and_its_delete(ingests: FakeIngests) -> None:
    write = replace(UPSERT, delete_when=WHEN)
    row = {"day": None, "note": "n"}
    commit = commit_of(
        ingests, write,
        {"id": 1, **row}, {"id": 1, "op": "D"}, {"id": 2, "op": "D"}, {"id": 2, "op": "I", **row},
    )  # fmt: skip
    [target] = commit.targets
    assert (target.record_count, target.delete_count) == (1, 1)


def test_the_field_that_deletes_is_no_inferred_column(ingests: FakeIngests) -> None:
    write = replace(UPSERT, delete_when=WHEN, write_schema=InferredColumns.INFER)
    [target] = commit_of(ingests, write, {"id": 1, "op": "I", "note": "a"}).targets
    assert target.column_ids == (1, 6)


def test_only_a_partitioned_tables_columns_must_be_among_the_keys_of_a_delete() -> None:
    ingests = FakeIngests(TABLE)
    try:
        with pytest.raises(WriteSchemaInvalid, match="partitioned by day"):
            commit_of(ingests, DELETE, {"id": 1})
        keys = replace(DELETE, equality_fields=("id", "day"))
        [target] = commit_of(ingests, keys, {"id": 1, "day": "2026-01-01"}).targets
        assert (target.column_ids, target.delete_count) == ((1, 2), 1)
    finally:
        ingests.close(WITHIN_S)


def test_routes_of_one_table_do_not_say_which_records_delete(ingests: FakeIngests) -> None:
    writes = (replace(UPSERT, write_schema=ColumnNames(("id", "note"))), DELETE)
    request = IngestRequest(writes, "", route=Route("op", {"I": 0, "D": 1}), shared=[{"op": "D", "id": 1}])
    with pytest.raises(IngestInvalid, match="with `deleteWhen`"):
        ingests.accept(request, "ann", FULL_ACCESS)
