"""An ingest from its request to its commit, over fakes."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from io import BytesIO
from typing import Any
from uuid import UUID, uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from service.errors.ingest_errors import (
    IngestInvalid,
    IngestNotFound,
    RecordsInvalid,
    TooManyIngests,
    WriteNotAllowed,
    WriteSchemaInvalid,
)
from service.errors.policy_errors import TableAccessDenied
from service.errors.query_errors import RequestIdReused
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import MetricsStoreDown, StorageDown
from service.model.ingest.ingest import BadRecord, IngestState, OnError
from service.model.ingest.ingest_request import (
    ColumnNames,
    InferredColumns,
    IngestRequest,
    RequestedWriteSchema,
    Route,
    StreamedRecords,
    Violation,
    Write,
    WriteFault,
    WriteRule,
)
from service.model.ingest.record_formats import Compression, RecordFormat
from service.model.ingest.writing import TableKey
from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS
from service.model.policies.policies import Grant, PolicySet
from service.model.policies.table_patterns import TablePattern
from service.model.tables.dead_letter_names import dead_letter_name
from service.model.tables.schemas import Field, Primitive, TableSchema
from service.model.tables.table_creation import RequestedSchema
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from tests.fakes.clock import FakeClock
from tests.fakes.ingest_service import FakeIngests
from tests.unit.ingest.wide_table import TABLE, with_columns

WITHIN_S = 20
OTHER = replace(TABLE, key=TableKey(TableName("lake", "logs", "others")), table_uuid=UUID(int=2))
DAY = {"day": "2026-01-01"}


@pytest.fixture
def ingests() -> Iterator[FakeIngests]:
    made = FakeIngests(TABLE, OTHER)
    yield made
    made.close(WITHIN_S)


def test_an_upsert_to_the_dead_letters_of_the_request_is_refused_before(ingests: FakeIngests) -> None:
    name = dead_letter_name(TABLE.key.table)
    dead_letters = replace(ingests.dead_letters.opened(name), key=TableKey(name))
    ingests.tables.put(dead_letters)
    row = {"received_at": "2026-01-01T00:00:00Z", "ingest_id": "1", "format": "NDJSON"}
    upsert = Write(
        dead_letters.key,
        [row],
        None,
        "/writes/1",
        is_upsert=True,
        equality_fields=("ingest_id", "received_at"),
    )
    bad = write({"id": "x", **DAY})
    request = IngestRequest((bad, upsert), "", on_error=OnError.DEAD_LETTER)
    with pytest.raises(IngestInvalid, match="receives the dead letters of this request") as refused:
        ingests.accept(request, "ann", FULL_ACCESS)
    assert refused.value.violations[0].place == "/writes/1"  # type: ignore[attr-defined]
    assert not ingests.files.files
    # Alone, or if bad records refuse the whole request, the upsert may go to that table.
    for allowed in (replace(request, writes=(upsert,)), IngestRequest((write({"id": 1, **DAY}), upsert), "")):
        assert ingests.accept(allowed, "ann", FULL_ACCESS).record.commits


def write(
    *records: Mapping[str, object],
    columns: Sequence[str] | None = ("id", "day"),
    table: TableName = TABLE.key.table,
    place: str = "",
) -> Write:
    schema: RequestedWriteSchema = None if columns is None else ColumnNames(tuple(columns))
    return Write(TableKey(table), records, schema, place)


def request(*writes: Write, request_id: UUID | None = None, fingerprint: str = "f") -> IngestRequest:
    return IngestRequest(writes, fingerprint, request_id)


def test_records_are_written_and_committed(ingests: FakeIngests) -> None:
    accepted = ingests.accept(request(write({"id": 1, **DAY}, {"id": 2, **DAY})), "ann", FULL_ACCESS)
    accepted.settled.result(WITHIN_S)
    record = ingests.find(accepted.record.ingest_id, "ann")
    assert record.state is IngestState.COMMITTED
    [commit] = record.commits
    assert [(target.column_ids, target.record_count) for target in commit.targets] == [((1, 2), 2)]
    assert [[row["id"] for row in rows] for rows in ingests.files.files.values()] == [[1, 2]]
    assert len(ingests.commits.rounds) == 1


def test_each_write_schema_has_files_of_its_own_and_all_share_a_commit(ingests: FakeIngests) -> None:
    record = {"id": 1, **DAY}
    sent = request(
        write(record),
        write({**record, "note": "a"}, columns=("id", "day", "note")),
        write(record),
        write(record, columns=("day", "id")),
    )
    ingests.accept(sent, "ann", FULL_ACCESS).settled.result(WITHIN_S)
    [committed] = ingests.commits.rounds
    targets = [result.target.write_schema_column_ids for result in committed.write_results]
    assert sorted(targets, key=str) == [(1, 2), (1, 2, 6), (2, 1)]
    assert sorted(len(rows) for rows in ingests.files.files.values()) == [1, 1, 2]


def test_tables_are_committed_each_by_itself(ingests: FakeIngests) -> None:
    sent = request(write({"id": 1, **DAY}), write({"id": 2, **DAY}, table=OTHER.key.table))
    ingests.accept(sent, "ann", FULL_ACCESS).settled.result(WITHIN_S)
    assert {round_.key for round_ in ingests.commits.rounds} == {TABLE.key, OTHER.key}
    assert {result.target.table_uuid for one in ingests.commits.rounds for result in one.write_results} == {
        UUID(int=1),
        UUID(int=2),
    }


def test_branches_of_a_table_are_committed_each_by_itself(ingests: FakeIngests) -> None:
    audit = TableKey(TABLE.key.table, "audit")
    sent = request(write({"id": 1, **DAY}), replace(write({"id": 2, **DAY}), key=audit))
    ingests.accept(sent, "ann", FULL_ACCESS).settled.result(WITHIN_S)
    assert len(ingests.commits.rounds) == 2
    for key, ids in ((TABLE.key, [1]), (audit, [2])):
        [address] = [json.loads(file)["file-path"] for file in ingests.commits.files(key)]
        assert [row["id"] for row in ingests.files.files[address]] == ids


def test_a_tag_is_refused_before_anything_is_written(ingests: FakeIngests) -> None:
    ingests.tables.tag(TABLE.key.table, "release")
    tagged = replace(write({"id": 2, **DAY}, place="/writes/1"), key=TableKey(TABLE.key.table, "release"))
    unknown = write({"id": 3}, columns=("none", "id", "day"), table=OTHER.key.table, place="/writes/2")
    for sent in (request(write({"id": 1, **DAY}), tagged), request(tagged, write({"id": 1, **DAY}))):
        with pytest.raises(IngestInvalid, match="release is a tag") as refused:
            ingests.accept(sent, "ann", FULL_ACCESS)
        assert [
            violation.place for violation in refused.value.violations if isinstance(violation, WriteFault)
        ] == ["/writes/1/branch"]
    with pytest.raises(IngestInvalid) as refused:
        ingests.accept(request(tagged, unknown), "ann", FULL_ACCESS)
    assert len(refused.value.violations) == 2
    assert not ingests.files.files


def test_without_a_write_schema_missing_columns_are_written_as_null(ingests: FakeIngests) -> None:
    ingests.accept(request(write({"id": 1, **DAY}, columns=None)), "ann", FULL_ACCESS)
    [[row]] = ingests.files.files.values()
    assert row["note"] is None
    assert len(row) == len(TABLE.schema.columns)


def test_every_bad_record_of_every_write_is_reported_and_nothing_is_written(ingests: FakeIngests) -> None:
    sent = request(
        write({"id": 1, **DAY}, {"id": "x", **DAY}, place="/writes/0"),
        write({**DAY}, {"id": 4, "note": "a", **DAY}, place="/writes/1"),
    )
    with pytest.raises(RecordsInvalid, match="3 of 4 records do not fit") as refused:
        ingests.accept(sent, "ann", FULL_ACCESS)
    assert refused.value.violations == (
        BadRecord("/writes/0/records/1", "id: 'x' is not of type long"),
        BadRecord("/writes/1/records/0", "id is required"),
        BadRecord("/writes/1/records/1", "there is no field note"),
    )
    assert not ingests.files.files


def test_no_more_than_a_hundred_bad_records_are_reported(ingests: FakeIngests) -> None:
    with pytest.raises(RecordsInvalid, match="250 of 250") as refused:
        ingests.accept(request(*[write(*[{}] * 50)] * 5), "ann", FULL_ACCESS)
    assert len(refused.value.violations) == 100
    assert ingests.metrics.rejected_count == 250


def test_every_rule_that_any_write_breaks_is_reported_at_once(ingests: FakeIngests) -> None:
    sent = request(write({}, columns=("id",)), write({}, columns=("day",), place="/writes/1"))
    with pytest.raises(WriteSchemaInvalid) as refused:
        ingests.accept(sent, "ann", FULL_ACCESS)
    reported = [violation for violation in refused.value.violations if isinstance(violation, Violation)]
    assert [(violation.place, violation.column) for violation in reported] == [
        ("", "day"),
        ("/writes/1", "id"),
    ]


def test_the_same_request_is_written_once(ingests: FakeIngests) -> None:
    sent = request(write({"id": 1, **DAY}), request_id=uuid4())
    first, second = (ingests.accept(sent, "ann", FULL_ACCESS) for _ in range(2))
    assert first.record.ingest_id == second.record.ingest_id
    second.settled.result(WITHIN_S)
    assert len(ingests.files.files) == 1
    assert ingests.accept(sent, "bob", FULL_ACCESS).record.ingest_id != first.record.ingest_id


def test_a_request_id_is_not_for_another_body(ingests: FakeIngests) -> None:
    request_id = uuid4()
    ingests.accept(request(write({"id": 1, **DAY}), request_id=request_id), "ann", FULL_ACCESS)
    other = request(write({"id": 2, **DAY}), request_id=request_id, fingerprint="g")
    with pytest.raises(RequestIdReused):
        ingests.accept(other, "ann", FULL_ACCESS)


def test_of_two_that_are_the_same_at_once_the_files_of_the_loser_go(ingests: FakeIngests) -> None:
    sent = request(write({"id": 1, **DAY}), request_id=uuid4())
    ask = ingests.log.find_request
    # Neither request finds the other in the log when it looks.
    answers = iter([None, None])
    ingests.log.find_request = lambda caller, request_id: next(answers, ask(caller, request_id))  # type: ignore[method-assign]
    first, second = (ingests.accept(sent, "ann", FULL_ACCESS) for _ in range(2))
    assert first.record.ingest_id == second.record.ingest_id
    assert len(ingests.files.files) == 1


def test_a_table_of_a_newer_format_is_refused_before_anything_is_written(ingests: FakeIngests) -> None:
    ingests.tables.put(replace(TABLE, format_version=4))
    with pytest.raises(IngestInvalid, match="format version 4"):
        ingests.accept(request(write({"id": 1, **DAY})), "ann", FULL_ACCESS)
    assert not ingests.files.files


def access(*grants: Grant) -> RoleAccess:
    return RoleAccess(CompiledPolicies(PolicySet(1, grants)), frozenset({"loader"}))


def test_dead_letters_need_no_grant_and_a_denial_keeps_them_away(ingests: FakeIngests) -> None:
    table, every = TablePattern.parse(str(TABLE.key.table)), TablePattern.parse("*.*.*")
    letters = TablePattern.parse(str(dead_letter_name(TABLE.key.table)))
    insert = Grant("loader", Action.INSERT, table)
    sent = replace(request(write({"id": "x", **DAY})), on_error=OnError.DEAD_LETTER)
    commits = ingests.accept(sent, "ann", access(insert)).record.commits
    assert [str(commit.key.table) for commit in commits] == [str(letters)]
    for action in (Action.INSERT, Action.ADMIN):
        denial = Grant("loader", action, letters, is_denial=True)
        everything = Grant("loader", Action.ADMIN, every)
        with pytest.raises(TableAccessDenied, match="events__dead_letter"):
            ingests.accept(sent, "ann", access(insert, everything, denial))
        # Without dead letters, the denial does not matter.
        good = request(write({"id": 1, **DAY}))
        assert ingests.accept(good, "ann", access(insert, everything, denial)).record.commits


def test_dead_letters_are_sent_again_only_by_who_may_write_to_the_table_now(ingests: FakeIngests) -> None:
    table = TablePattern.parse(str(TABLE.key.table))
    sent = request(write({"id": 1, **DAY}), request_id=uuid4())
    taken = ingests.accept(sent, "ann", access(Grant("loader", Action.INSERT, table))).record
    without = access(Grant("loader", Action.SELECT, table))
    with pytest.raises(TableAccessDenied):
        ingests.accept(replace(sent, request_id=uuid4()), "ann", without)
    # The same request writes nothing again: its answer is that of the ingest that was accepted.
    assert ingests.accept(sent, "ann", without).record.ingest_id == taken.ingest_id
    assert len(ingests.files.files) == 1


def test_a_table_that_is_not_there_is_reported(ingests: FakeIngests) -> None:
    with pytest.raises(TableNotFound):
        ingests.accept(
            request(write({"id": 1}, table=TableName("lake", "logs", "nothing"))), "ann", FULL_ACCESS
        )


@pytest.mark.parametrize(
    ("names", "is_allowed"),
    [
        (("*",), True),
        (("lake.logs.*",), True),
        (("lake.*.events", "x"), True),
        (("lake.shop.*",), False),
        ((), False),
    ],
)
def test_only_tables_that_the_operator_lists_are_written_to(names: tuple[str, ...], is_allowed: bool) -> None:
    ingests = FakeIngests(TABLE, writable_names=names)
    sent = request(write({"id": 1, **DAY}))
    if is_allowed:
        ingests.accept(sent, "ann", FULL_ACCESS).settled.result(WITHIN_S)
    else:
        with pytest.raises(WriteNotAllowed, match=r"lake\.logs\.events"):
            ingests.accept(sent, "ann", FULL_ACCESS)
    assert bool(ingests.files.files) is is_allowed
    ingests.close(WITHIN_S)


def test_nothing_is_accepted_while_storage_or_log_are_down(ingests: FakeIngests) -> None:
    ingests.files.is_down = True
    with pytest.raises(StorageDown):
        ingests.accept(request(write({"id": 1, **DAY})), "ann", FULL_ACCESS)
    ingests.files.is_down = False
    ingests.log.is_down = True
    with pytest.raises(MetricsStoreDown):
        ingests.accept(request(write({"id": 1, **DAY})), "ann", FULL_ACCESS)
    ingests.log.is_down = False
    # Despite the error, the ingest may be in the log, so its files stay.
    assert len(ingests.files.files) == 1
    assert not ingests.commits.rounds


@pytest.mark.parametrize(
    ("took", "is_accepted"), [(timedelta(hours=22), True), (timedelta(hours=23, seconds=1), False)]
)
@pytest.mark.parametrize("on_error", list(OnError))
def test_what_takes_so_long_that_its_files_may_be_taken_for_orphans_is_refused(
    took: timedelta, is_accepted: bool, on_error: OnError
) -> None:
    clock = FakeClock()
    ingests = FakeIngests(TABLE, clock=clock)

    def opened() -> BytesIO:
        # The body is opened twice: once for its size, and once to be read.
        clock.advance(took / 2)
        return BytesIO(json.dumps({"id": 1, **DAY}).encode())

    records = StreamedRecords(opened, RecordFormat.NDJSON)
    sent = IngestRequest((write(),), "f", shared=records, on_error=on_error)
    if is_accepted:
        ingests.accept(sent, "ann", FULL_ACCESS)
    else:
        with pytest.raises(IngestInvalid, match="several parts"):
            ingests.accept(sent, "ann", FULL_ACCESS)
        assert (ingests.log.waiting().keys, ingests.commits.rounds) == ([], [])
    assert bool(ingests.files.files) is is_accepted
    ingests.close(WITHIN_S)


def test_an_ingest_is_its_callers_alone(ingests: FakeIngests) -> None:
    accepted = ingests.accept(request(write({"id": 1, **DAY})), "ann", FULL_ACCESS)
    for ingest_id, caller in ((accepted.record.ingest_id, "bob"), (uuid4(), "ann")):
        with pytest.raises(IngestNotFound):
            ingests.find(ingest_id, caller)


def streamed(*lines: str, **asked: Any) -> IngestRequest:
    body = "\n".join(lines).encode()
    records = StreamedRecords(lambda: BytesIO(body), RecordFormat.NDJSON)
    return replace(request(write()), shared=records, **asked)


def test_a_body_of_records_is_written_and_its_bad_lines_are_reported(ingests: FakeIngests) -> None:
    accepted = ingests.accept(streamed('{"id":1}', "", '{"id":2,"day":"2026-01-01"}'), "ann", FULL_ACCESS)
    assert [target.record_count for target in accepted.record.commits[0].targets] == [2]
    bad = streamed('{"id":1}', "nonsense", '{"id":"x"}')
    with pytest.raises(RecordsInvalid, match="2 of 3 records do not fit") as refused:
        ingests.accept(bad, "ann", FULL_ACCESS)
    assert refused.value.violations == (
        BadRecord("", "not JSON: Expecting value", line=2, column=1),
        BadRecord("", "id: 'x' is not of type long", line=3),
    )
    assert len(ingests.files.files) == 1


@pytest.mark.parametrize("lines", [[], [""], ["", " "]])
def test_a_body_without_records_is_refused(ingests: FakeIngests, lines: list[str]) -> None:
    with pytest.raises(IngestInvalid, match="There are no records"):
        ingests.accept(streamed(*lines), "ann", FULL_ACCESS)


def test_records_go_to_the_tables_that_their_field_names(ingests: FakeIngests) -> None:
    writes = (write(columns=("id", "day")), write(columns=("day", "id"), table=OTHER.key.table))
    sent = streamed(
        '{"kind":"a","id":1}',
        '{"kind":"z","id":2}',
        '{"kind":"a","id":3}',
        writes=writes,
        route=Route("kind", {"a": 0}, 1),
    )
    accepted = ingests.accept(sent, "ann", FULL_ACCESS)
    counts = {commit.key: commit.targets[0].record_count for commit in accepted.record.commits}
    assert counts == {TABLE.key: 2, OTHER.key: 1}
    records = [{"kind": "a", "id": 4}, {"kind": "z", "id": 5}]
    accepted = ingests.accept(replace(sent, shared=records), "ann", FULL_ACCESS)
    assert [commit.key for commit in accepted.record.commits] == [TABLE.key, OTHER.key]


def test_records_of_an_upsert_that_come_by_several_routes_keep_their_order(ingests: FakeIngests) -> None:
    upsert = replace(write(), is_upsert=True, equality_fields=("id", "day"))
    route = Route("kind", {"a": 0, "b": 1}, 2)
    records = [{"kind": kind, "id": number, **DAY} for number, kind in enumerate("bacab")]
    lines = [json.dumps(record) for record in records]
    csv_body = columnar(pa.Table.from_pylist(records), RecordFormat.CSV)
    for shared in (
        records,
        streamed(*lines).shared,
        StreamedRecords(lambda: BytesIO(csv_body), RecordFormat.CSV),
    ):
        ingests.files.files.clear()
        ingests.accept(IngestRequest((upsert,) * 3, "", shared=shared, route=route), "ann", FULL_ACCESS)
        [rows] = ingests.files.files.values()
        assert [row["id"] for row in rows] == [0, 1, 2, 3, 4]


def test_an_upsert_whose_records_are_read_in_several_ways_is_refused(ingests: FakeIngests) -> None:
    table = with_columns(Field(1, "id", Primitive("long")), Field(2, "at", Primitive("timestamp")))
    ingests.tables.put(table)
    as_days = TableSchema(0, (Field(1, "id", Primitive("long")), Field(2, "at", Primitive("date"))))
    upsert = Write(table.key, (), is_upsert=True, equality_fields=("id",))
    days = replace(upsert, schema=RequestedSchema(as_days))
    sent = streamed('{"kind":"a","id":1}', writes=(upsert, days), route=Route("kind", {"a": 0}, 1))
    with pytest.raises(IngestInvalid, match="read records in different ways"):
        ingests.accept(sent, "ann", FULL_ACCESS)


def test_a_table_that_gets_no_record_is_not_committed_to(ingests: FakeIngests) -> None:
    writes = (write(), write(table=OTHER.key.table))
    sent = streamed('{"kind":"a","id":1}', writes=writes, route=Route("kind", {"a": 0, "b": 1}))
    assert [commit.key for commit in ingests.accept(sent, "ann", FULL_ACCESS).record.commits] == [TABLE.key]


def test_an_inferred_write_schema_has_the_columns_of_all_records_of_its_target(ingests: FakeIngests) -> None:
    inferred = Write(TABLE.key, (), InferredColumns.INFER)
    sent = streamed('{"id":1}', '{"id":2,"note":null}', writes=(inferred,))
    [target] = ingests.accept(sent, "ann", FULL_ACCESS).record.commits[0].targets
    # The source of the partition is written too.
    assert target.column_ids == (1, 2, 6)
    routed = replace(
        streamed('{"kind":"a","id":1,"note":"x"}', '{"kind":"b","id":2}'),
        writes=(inferred, replace(inferred, place="/b")),
        route=Route("kind", {"a": 0, "b": 1}),
    )
    targets = ingests.accept(routed, "ann", FULL_ACCESS).record.commits[0].targets
    assert sorted(str(target.column_ids) for target in targets) == ["(1, 2)", "(1, 2, 6)"]


PLAIN = with_columns(Field(1, "note", Primitive("string")), Field(2, "user.name", Primitive("string")))
INFERRED = Write(PLAIN.key, (), InferredColumns.INFER)


@pytest.mark.parametrize(
    ("sent", "reported"),
    [
        (request(replace(INFERRED, records=[{"nope": 1}, {"nope": 2, "not": 3}])), ["nope", "not"]),
        (replace(streamed('{"nope":1}', '{"not":3}'), writes=(INFERRED,)), ["nope", "not"]),
        (
            replace(
                request(INFERRED), shared=StreamedRecords(lambda: BytesIO(b"nope,not\n1,"), RecordFormat.CSV)
            ),
            ["nope"],
        ),
        (
            replace(streamed('{"kind":"a","nope":1}'), writes=(INFERRED,), route=Route("kind", {"a": 0})),
            ["nope"],
        ),
        (
            replace(
                streamed("{" + ",".join(f'"n{number}":1' for number in range(99)) + "}"), writes=(INFERRED,)
            ),
            10,
        ),
        (replace(streamed('{"' + "x" * 5000 + '":1}'), writes=(INFERRED,)), ["x" * 100]),
    ],
    ids=["records", "lines", "csv", "route", "many", "long"],
)
def test_where_no_field_is_a_column_of_the_table_the_inferred_write_schema_names_the_fields(
    sent: IngestRequest, reported: list[str] | int
) -> None:
    made = FakeIngests(PLAIN)
    with pytest.raises(WriteSchemaInvalid) as refused:
        made.accept(sent, "ann", FULL_ACCESS)
    made.close(WITHIN_S)
    found = [violation for violation in refused.value.violations if isinstance(violation, Violation)]
    assert {violation.rule for violation in found} == {WriteRule.UNKNOWN_COLUMN}
    names = [violation.column for violation in found]
    assert (len(names) if isinstance(reported, int) else names) == reported
    assert f"The table has no column {names[0]}." in refused.value.detail


def columnar(table: pa.Table, record_format: RecordFormat) -> bytes:
    sink = BytesIO()
    match record_format:
        case RecordFormat.CSV:
            csv.write_csv(table, sink)
        case RecordFormat.PARQUET:
            pq.write_table(table, sink)
        case _:
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("record_format", [RecordFormat.CSV, RecordFormat.ARROW_STREAM, RecordFormat.PARQUET])
def test_columns_without_a_value_are_not_written_where_columns_are_inferred(
    ingests: FakeIngests, record_format: RecordFormat
) -> None:
    inferred = Write(TABLE.key, (), InferredColumns.INFER)
    sent = pa.table({"id": [1, 2], "note": pa.nulls(2, pa.string()), "place": pa.nulls(2)})
    for table in (sent, sent.append_column("kind", pa.array(["a", "a"]))):
        body = columnar(table, record_format)
        records = StreamedRecords(partial(BytesIO, body), record_format)
        asked = replace(request(inferred), shared=records)
        if "kind" in table.column_names:
            asked = replace(asked, route=Route("kind", {"a": 0}))
        [target] = ingests.accept(asked, "ann", FULL_ACCESS).record.commits[0].targets
        # The source of the partition is written too.
        assert (target.column_ids, target.record_count) == ((1, 2), 2)
    for other in (pa.array([None, "x"]), pa.nulls(2, pa.string())):
        unknown = columnar(sent.append_column("other", other), record_format)
        records = StreamedRecords(partial(BytesIO, unknown), record_format)
        with pytest.raises(IngestInvalid, match="There is no column 'other'"):
            ingests.accept(replace(request(inferred), shared=records), "ann", FULL_ACCESS)
    named = replace(
        request(write()),
        shared=StreamedRecords(partial(BytesIO, columnar(sent, record_format)), record_format),
    )
    with pytest.raises(IngestInvalid, match="There is no column 'note', 'place'"):
        ingests.accept(named, "ann", FULL_ACCESS)


@pytest.mark.parametrize("record_format", [RecordFormat.CSV, RecordFormat.ARROW_STREAM])
def test_a_padded_batch_is_accepted_where_columns_are_inferred(record_format: RecordFormat) -> None:
    wide = with_columns(*(Field(number, f"c{number}", Primitive("long")) for number in range(1, 501)))
    sent = pa.table(
        {f"c{number}": [number] if number % 50 == 1 else pa.nulls(1, pa.int64()) for number in range(1, 501)}
    )
    made = FakeIngests(wide)
    body = columnar(sent, record_format)
    asked = request(Write(wide.key, (), InferredColumns.INFER))
    accepted = made.accept(
        replace(asked, shared=StreamedRecords(lambda: BytesIO(body), record_format)), "ann", FULL_ACCESS
    )
    [target] = accepted.record.commits[0].targets
    assert target.column_ids == tuple(range(1, 501, 50))
    made.close(WITHIN_S)


def dead_letters(ingests: FakeIngests) -> list[dict[str, object]]:
    return [row for rows in ingests.files.files.values() for row in rows if "payload" in row]


def test_records_that_do_not_fit_are_dead_letters_and_the_rest_is_written(ingests: FakeIngests) -> None:
    sent = streamed('{"id":1}', "nonsense", '{"id":"x"}', on_error=OnError.DEAD_LETTER)
    accepted = ingests.accept(sent, "ann", FULL_ACCESS)
    accepted.settled.result(WITHIN_S)
    record = ingests.find(accepted.record.ingest_id, "ann")
    assert (record.state, record.rejected.count) == (IngestState.COMMITTED, 2)
    assert [sample.line for sample in record.rejected.samples] == [2, 3]
    tables = [str(commit.key.table) for commit in record.commits]
    assert tables == ["lake.logs.events", "lake.logs.events__dead_letter"]
    reported = [
        (letter["payload"], letter["position"], letter["table_name"], letter["format"])
        for letter in dead_letters(ingests)
    ]
    assert reported == [
        ("nonsense", "line 2, column 1", "lake.logs.events", "NDJSON"),
        ('{"id":"x"}', "line 3", "lake.logs.events", "NDJSON"),
    ]
    assert {letter["ingest_id"] for letter in dead_letters(ingests)} == {str(record.ingest_id)}


def test_dead_letters_can_be_sent_again(ingests: FakeIngests) -> None:
    sent = streamed('{"id":1}', '{"id":"2"}', on_error=OnError.DEAD_LETTER)
    ingests.accept(sent, "ann", FULL_ACCESS)
    [dead_letter] = dead_letters(ingests)
    corrected = str(dead_letter["payload"]).replace('"2"', "2")
    assert (
        ingests.accept(streamed(corrected), "ann", FULL_ACCESS).record.commits[0].targets[0].record_count == 1
    )


def test_if_no_record_fits_there_are_dead_letters_alone(ingests: FakeIngests) -> None:
    sent = request(write({"id": "x"}, {"id": 1, "no\ud800": 1}))
    accepted = ingests.accept(replace(sent, on_error=OnError.DEAD_LETTER), "ann", FULL_ACCESS)
    [commit] = accepted.record.commits
    assert str(commit.key.table) == "lake.logs.events__dead_letter"
    assert accepted.record.rejected.count == 2
    assert [letter["position"] for letter in dead_letters(ingests)] == ["/records/0", "/records/1"]


def test_bytes_that_are_no_text_are_stored_as_they_are(ingests: FakeIngests) -> None:
    body = b'{"id":1}\n{"id":2,"day":"\xff"}'
    sent = replace(
        request(write()),
        shared=StreamedRecords(lambda: BytesIO(body), RecordFormat.NDJSON),
        on_error=OnError.DEAD_LETTER,
    )
    ingests.accept(sent, "ann", FULL_ACCESS)
    [dead_letter] = dead_letters(ingests)
    assert (dead_letter["payload"], dead_letter["payload_bytes"]) == (None, b'{"id":2,"day":"\xff"}')


def test_what_has_no_route_is_a_dead_letter_of_the_first_table(ingests: FakeIngests) -> None:
    sent = streamed('{"kind":"b","id":1}', route=Route("kind", {"a": 0}), on_error=OnError.DEAD_LETTER)
    ingests.accept(sent, "ann", FULL_ACCESS)
    [dead_letter] = dead_letters(ingests)
    assert dead_letter["table_name"] is None


def test_a_body_that_breaks_off_leaves_nothing_behind(ingests: FakeIngests) -> None:
    whole = gzip.compress(b"".join(b'{"id":%d,"note":"%d"}\n' % (n, n * 7919) for n in range(5000)))
    for on_error in OnError:
        records = StreamedRecords(lambda: BytesIO(whole[:-9]), RecordFormat.NDJSON, Compression.GZIP)
        with pytest.raises(IngestInvalid, match="Truncated"):
            ingests.accept(
                replace(request(write(columns=None)), shared=records, on_error=on_error), "ann", FULL_ACCESS
            )
    assert not ingests.files.files


def test_while_too_many_wait_to_be_committed_only_those_are_answered_that_do_so_already() -> None:
    ingests = FakeIngests(TABLE, max_waiting=1)
    ingests.log.taken_elsewhere.add(TABLE.key)
    waiting = request(write({"id": 1, **DAY}), request_id=uuid4())
    first = ingests.accept(waiting, "ann", FULL_ACCESS)
    with pytest.raises(TooManyIngests):
        ingests.accept(request(write({"id": 2, **DAY})), "ann", FULL_ACCESS)
    assert ingests.accept(waiting, "ann", FULL_ACCESS).record.ingest_id == first.record.ingest_id
    assert len(ingests.files.files) == 1
    ingests.log.taken_elsewhere.clear()
    first.settled.result(WITHIN_S)
    ingests.accept(request(write({"id": 2, **DAY})), "ann", FULL_ACCESS).settled.result(WITHIN_S)
    ingests.close(WITHIN_S)


def test_a_summary_counts_the_records_that_a_table_rejected(ingests: FakeIngests) -> None:
    long_ago = datetime(2000, 1, 1, tzinfo=UTC)
    ingests.accept(
        streamed('{"id":1}', "nonsense", '{"id":"x"}', on_error=OnError.DEAD_LETTER), "ann", FULL_ACCESS
    )
    lost = request(write({"id": "x"}, table=OTHER.key.table))
    ingests.accept(replace(lost, on_error=OnError.DEAD_LETTER), "ann", FULL_ACCESS)
    reported = [
        (table.table, table.record_count, table.rejected_record_count)
        for table in ingests.summary(long_ago, None).tables
    ]
    assert reported == [
        ("lake.logs.events", 1, 2),
        ("lake.logs.events__dead_letter", 2, 0),
        ("lake.logs.others", 0, 1),
        ("lake.logs.others__dead_letter", 1, 0),
    ]
    [one] = ingests.summary(long_ago, "lake.logs.others").tables
    assert (one.table, one.rejected_record_count) == ("lake.logs.others", 1)
