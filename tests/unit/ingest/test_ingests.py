"""An ingest from what was sent to what was committed, over fakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from service.errors import (
    IngestInvalid,
    IngestNotFound,
    MetricsStoreDown,
    RecordsInvalid,
    RequestIdReused,
    StorageDown,
    TableNotFound,
    WriteNotAllowed,
    WriteSchemaInvalid,
)
from service.model.ingest import (
    BadRecord,
    ColumnNames,
    IngestRequest,
    IngestState,
    RequestedWriteSchema,
    Violation,
    Write,
)
from service.model.tables import TableName
from service.model.writing import TableKey
from tests.fakes.ingest_service import FakeIngests
from tests.unit.ingest.wide_table import TABLE

WITHIN_S = 20
OTHER = replace(TABLE, key=TableKey(TableName("lake", "logs", "others")), table_uuid=UUID(int=2))
DAY = {"day": "2026-01-01"}


@pytest.fixture
def ingests() -> Iterator[FakeIngests]:
    made = FakeIngests(TABLE, OTHER)
    yield made
    made.close(WITHIN_S)


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
    accepted = ingests.accept(request(write({"id": 1, **DAY}, {"id": 2, **DAY})), "ann")
    accepted.settled.result(WITHIN_S)
    record = ingests.find(accepted.record.ingest_id, "ann")
    assert record.state is IngestState.COMMITTED
    [commit] = record.commits
    assert [(each.column_ids, each.record_count) for each in commit.targets] == [((1, 2), 2)]
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
    ingests.accept(sent, "ann").settled.result(WITHIN_S)
    [committed] = ingests.commits.rounds
    targets = [each.target.write_schema_column_ids for each in committed.write_results]
    assert sorted(targets, key=str) == [(1, 2), (1, 2, 6), (2, 1)]
    assert sorted(len(rows) for rows in ingests.files.files.values()) == [1, 1, 2]


def test_tables_are_committed_each_by_itself(ingests: FakeIngests) -> None:
    sent = request(write({"id": 1, **DAY}), write({"id": 2, **DAY}, table=OTHER.key.table))
    ingests.accept(sent, "ann").settled.result(WITHIN_S)
    assert {each.key for each in ingests.commits.rounds} == {TABLE.key, OTHER.key}
    assert {each.target.table_uuid for one in ingests.commits.rounds for each in one.write_results} == {
        UUID(int=1),
        UUID(int=2),
    }


def test_without_a_write_schema_missing_columns_are_written_as_null(ingests: FakeIngests) -> None:
    ingests.accept(request(write({"id": 1, **DAY}, columns=None)), "ann")
    [[row]] = ingests.files.files.values()
    assert row["note"] is None
    assert len(row) == len(TABLE.schema.columns)


def test_every_bad_record_of_every_write_is_told_and_nothing_is_written(ingests: FakeIngests) -> None:
    sent = request(
        write({"id": 1, **DAY}, {"id": "x", **DAY}, place="/writes/0"),
        write({**DAY}, {"id": 4, "note": "a", **DAY}, place="/writes/1"),
    )
    with pytest.raises(RecordsInvalid, match="3 of 4 records do not fit") as refused:
        ingests.accept(sent, "ann")
    assert refused.value.violations == (
        BadRecord("/writes/0/records/1", "id: 'x' is no long"),
        BadRecord("/writes/1/records/0", "id is required"),
        BadRecord("/writes/1/records/1", "there is no field note"),
    )
    assert not ingests.files.files


def test_no_more_than_a_hundred_bad_records_are_told(ingests: FakeIngests) -> None:
    with pytest.raises(RecordsInvalid, match="250 of 250") as refused:
        ingests.accept(request(*[write(*[{}] * 50)] * 5), "ann")
    assert len(refused.value.violations) == 100


def test_every_rule_that_any_write_breaks_is_told_at_once(ingests: FakeIngests) -> None:
    sent = request(write({}, columns=("id",)), write({}, columns=("day",), place="/writes/1"))
    with pytest.raises(WriteSchemaInvalid) as refused:
        ingests.accept(sent, "ann")
    told = [each for each in refused.value.violations if isinstance(each, Violation)]
    assert [(each.place, each.column) for each in told] == [("", "day"), ("/writes/1", "id")]


def test_the_same_request_is_written_once(ingests: FakeIngests) -> None:
    sent = request(write({"id": 1, **DAY}), request_id=uuid4())
    first, second = (ingests.accept(sent, "ann") for _ in range(2))
    assert first.record.ingest_id == second.record.ingest_id
    second.settled.result(WITHIN_S)
    assert len(ingests.files.files) == 1
    assert ingests.accept(sent, "bob").record.ingest_id != first.record.ingest_id


def test_a_request_id_is_not_for_another_body(ingests: FakeIngests) -> None:
    request_id = uuid4()
    ingests.accept(request(write({"id": 1, **DAY}), request_id=request_id), "ann")
    other = request(write({"id": 2, **DAY}), request_id=request_id, fingerprint="g")
    with pytest.raises(RequestIdReused):
        ingests.accept(other, "ann")


def test_of_two_that_are_the_same_at_once_the_files_of_the_loser_go(ingests: FakeIngests) -> None:
    sent = request(write({"id": 1, **DAY}), request_id=uuid4())
    ask = ingests.log.find_request
    # As if the other were not yet in the log when this one looked.
    answers = iter([None, None])
    ingests.log.find_request = lambda caller, request_id: next(answers, ask(caller, request_id))  # type: ignore[method-assign]
    first, second = (ingests.accept(sent, "ann") for _ in range(2))
    assert first.record.ingest_id == second.record.ingest_id
    assert len(ingests.files.files) == 1


def test_a_table_of_a_newer_format_is_refused_before_anything_is_written(ingests: FakeIngests) -> None:
    ingests.tables.put(replace(TABLE, format_version=3))
    with pytest.raises(IngestInvalid, match="format version 3"):
        ingests.accept(request(write({"id": 1, **DAY})), "ann")
    assert not ingests.files.files


def test_a_table_that_is_not_there_is_told(ingests: FakeIngests) -> None:
    with pytest.raises(TableNotFound):
        ingests.accept(request(write({"id": 1}, table=TableName("lake", "logs", "nothing"))), "ann")


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
        ingests.accept(sent, "ann").settled.result(WITHIN_S)
    else:
        with pytest.raises(WriteNotAllowed, match=r"lake\.logs\.events"):
            ingests.accept(sent, "ann")
    assert bool(ingests.files.files) is is_allowed
    ingests.close(WITHIN_S)


def test_nothing_is_accepted_while_storage_or_log_are_down(ingests: FakeIngests) -> None:
    ingests.files.is_down = True
    with pytest.raises(StorageDown):
        ingests.accept(request(write({"id": 1, **DAY})), "ann")
    ingests.files.is_down = False
    ingests.log.is_down = True
    with pytest.raises(MetricsStoreDown):
        ingests.accept(request(write({"id": 1, **DAY})), "ann")
    ingests.log.is_down = False
    # It may be in the log in spite of the error, so its files stay.
    assert len(ingests.files.files) == 1
    assert not ingests.commits.rounds


def test_an_ingest_is_its_callers_alone(ingests: FakeIngests) -> None:
    accepted = ingests.accept(request(write({"id": 1, **DAY})), "ann")
    for ingest_id, caller in ((accepted.record.ingest_id, "bob"), (uuid4(), "ann")):
        with pytest.raises(IngestNotFound):
            ingests.find(ingest_id, caller)
