"""The contract of ingest logs, checked on the fake and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.exc import DatabaseError

from service.adapters.postgres.ingest_log.commit_rounds import RoundBounds
from service.adapters.postgres.ingest_log.ingest_log import PostgresIngestLog
from service.errors.ingest_errors import CommittableVersionUnknown
from service.errors.unavailable import CatalogDown, MetricsStoreDown
from service.model.ingest.commit_rounds import PendingRound, RoundRevision
from service.model.ingest.ingest import BadRecord, IngestRecord, IngestState, Rejected
from service.model.ingest.record_deletes import DeleteWhen, Envelope, RecordDeletes
from service.model.ingest.validation_schema import ReadAs, UnreadableFile, ValidatedSchemas
from service.model.ingest.writing import CommitResult, Committable, TableKey, WriteResult
from service.model.tables.partition_rules import FolderBounds, PartitionRule, PartitionRules
from service.model.tables.schema_changes import ColumnChange, ColumnChangeKind, TableEvolution
from service.model.tables.schemas import Field, ListOf, MapOf, Primitive, Struct
from service.model.tables.tables import TableName
from service.ports.stores.ingest_log import IngestLog
from service.tracing import TraceContext
from tests.fakes.ingest_log import FakeIngestLog
from tests.fakes.ingests import ACCEPTED_AT, LOGS, ORDERS, ingest_of, write_result

NOBODY_THERE = "postgresql+psycopg://postgres:topsecret@127.0.0.1:9/sluice"
MANY = 10_000
END_WHO_HAS_LOCKS = "SELECT pg_terminate_backend(pid, 20000) FROM pg_locks WHERE locktype = 'advisory'"


@pytest.fixture(params=["fake", "postgres"])
def log(request: pytest.FixtureRequest) -> Iterator[IngestLog]:
    if request.param == "fake":
        yield FakeIngestLog()
        return
    yield request.getfixturevalue("real_log")


@pytest.fixture
def real_log(metrics_url: str) -> Iterator[PostgresIngestLog]:
    execute(metrics_url, "TRUNCATE ingests CASCADE")
    real = PostgresIngestLog(metrics_url)
    yield real
    real.close()


@pytest.fixture(params=["fake", "postgres"])
def log_that_is_down(request: pytest.FixtureRequest) -> Iterator[IngestLog]:
    if request.param == "fake":
        fake = FakeIngestLog()
        fake.is_down = True
        yield fake
        return
    real = PostgresIngestLog(NOBODY_THERE)
    yield real
    real.close()


def execute(url: str, *statements: str) -> None:
    engine = create_engine(url)
    try:
        with engine.begin() as connection:
            for statement in statements:
                connection.execute(text(statement))
    finally:
        engine.dispose()


def accept(log: IngestLog, results: Sequence[WriteResult], request_id: UUID | None = None) -> IngestRecord:
    return log.accept(ingest_of(results, request_id=request_id), results)


def committed_as(pending: PendingRound, snapshot_id: int) -> None:
    pending.committed(CommitResult(pending.committable.key, snapshot_id, 1, 10, 1_000))


def rounds(log: IngestLog, key: TableKey = LOGS, max_files: int = MANY) -> list[tuple[UUID, ...]]:
    """Takes and commits one round after the other, and returns the ingests of each."""
    taken: list[tuple[UUID, ...]] = []
    while True:
        with log.round(key, max_files) as pending:
            if pending is None:
                return taken
            taken.append(pending.committable.ingest_ids)
            committed_as(pending, len(taken))


@pytest.mark.parametrize("count", [0, 2, 40])
def test_an_ingest_of_any_number_of_tables_is_accepted_once(log: IngestLog, count: int) -> None:
    keys = [TableKey(TableName("lake", "game", f"t{number}")) for number in range(count)]
    results = [write_result(key) for key in keys]
    request_id = uuid4()
    first = accept(log, results, request_id)
    assert log.find(first.ingest_id) == first
    assert [commit.key for commit in first.commits] == keys
    assert accept(log, results, request_id) == first
    assert list(log.waiting().keys) == keys


def test_an_accepted_ingest_is_found_and_waits(log: IngestLog) -> None:
    results = [write_result(LOGS, 2), write_result(LOGS, column_ids=None), write_result(ORDERS, 0)]
    record = ingest_of(results, request_id=uuid4())
    assert record.request_id is not None
    assert log.accept(record, results) == record
    assert log.find(record.ingest_id) == record
    assert log.find_request("ann", record.request_id) == record
    assert record.state is IngestState.ACCEPTED
    assert set(log.waiting().keys) == {LOGS, ORDERS}


def test_every_ingest_that_waits_counts_once(log: IngestLog) -> None:
    for results in ([write_result(LOGS), write_result(ORDERS)], [write_result(LOGS)], [write_result(ORDERS)]):
        accept(log, results)
    assert log.waiting().ingest_count == 3
    assert log.waiting().oldest_accepted_at == ACCEPTED_AT
    rounds(log, LOGS)
    # Part of the first ingest still waits.
    assert log.waiting().ingest_count == 2
    with log.round(ORDERS, MANY) as pending:
        assert pending is not None
        pending.refused("TABLE_CHANGED", "other spec")
    assert log.waiting().ingest_count == 0
    assert log.waiting().oldest_accepted_at is None


def test_what_an_ingest_has_made_and_changed_is_reported_for_as_long_as_it_is_known(log: IngestLog) -> None:
    results = [write_result(LOGS)]
    evolutions = (
        TableEvolution(
            LOGS.table,
            is_created=True,
            changes=(
                ColumnChange("place.city", ColumnChangeKind.ADDED, after="string"),
                ColumnChange("id", ColumnChangeKind.WIDENED, "int", "long"),
                ColumnChange("note", ColumnChangeKind.MADE_OPTIONAL),
            ),
        ),
        TableEvolution(ORDERS.table, is_created=True),
    )
    record = replace(ingest_of(results, request_id=uuid4()), evolutions=evolutions)
    log.accept(record, results)
    rounds(log)
    assert record.request_id is not None
    for found in (log.find(record.ingest_id), log.find_request("ann", record.request_id)):
        assert found is not None
        assert found.evolutions == evolutions


def test_what_records_were_read_as_is_known_as_it_was(log: IngestLog) -> None:
    place = Struct((Field(3, "city\x00", Primitive("string")), Field(4, "\ud800", Primitive("int"))))
    nested = (
        Field(1, "id", Primitive("long"), is_required=True),
        Field(2, "places", ListOf(Field(5, "element", place)), initial_default=[], write_default=None),
        Field(6, "m", MapOf(Field(7, "key", Primitive("date (as timestamp)")), Field(8, "value", place))),
    )
    rule = PartitionRule("city", ("place", "city"), "string", "truncate[9]", is_required=True)
    bounds = (FolderBounds(each=255, together=900), FolderBounds(each=None, together=900), None)
    with_rules = tuple(ReadAs(nested, PartitionRules((rule,), bound)) for bound in bounds)
    when = DeleteWhen("op\x00", frozenset({"D", "\ud800"}))
    unreadable = (UnreadableFile("file:///a/b c.csv", "no\x00 reason \ud800"),)
    known = (
        ValidatedSchemas((ReadAs(nested), ReadAs())),
        ValidatedSchemas(with_rules, unreadable),
        ValidatedSchemas((ReadAs(nested, deletes=RecordDeletes(("id", "day"), when)), with_rules[0])),
        ValidatedSchemas((replace(with_rules[0], deletes=RecordDeletes(("id",), None, Envelope.DEBEZIUM)),)),
        ValidatedSchemas((ReadAs(deletes=RecordDeletes(("id",))),)),
        ValidatedSchemas((ReadAs(deletes=RecordDeletes(("id",), when, order="day")),)),
        ValidatedSchemas(),
        None,
    )
    for validated_schemas in known:
        record = replace(ingest_of([]), validated_schemas=validated_schemas)
        log.accept(record, [])
        found = log.find(record.ingest_id)
        assert found is not None
        assert found.validated_schemas == validated_schemas


def test_a_round_knows_the_trace_of_each_ingest(log: IngestLog) -> None:
    traces = [TraceContext("1" * 32, "2" * 16, is_sampled=True), None, TraceContext("3" * 32, "4" * 16)]
    for trace in traces:
        results = [write_result(LOGS)]
        record = replace(ingest_of(results), trace=trace)
        log.accept(record, results)
        assert log.find(record.ingest_id) == record
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        assert [part.trace for part in pending.parts] == traces


def test_what_nobody_accepted_is_not_found(log: IngestLog) -> None:
    assert log.find(uuid4()) is None
    assert log.find_request("ann", uuid4()) is None
    assert log.waiting().keys == []


def test_of_requests_with_one_id_the_first_wins_and_all_get_its_record(log: IngestLog) -> None:
    request_id = uuid4()
    first = accept(log, [write_result()], request_id)
    second = [write_result(files=7)]
    assert log.accept(ingest_of(second, request_id=request_id), second) == first
    assert rounds(log) == [(first.ingest_id,)]
    assert accept(log, [write_result()], request_id).state is IngestState.COMMITTED


def test_a_request_id_is_the_callers_own(log: IngestLog) -> None:
    request_id = uuid4()
    anns = accept(log, [write_result()], request_id)
    results = [write_result()]
    bobs = log.accept(ingest_of(results, request_id=request_id, caller="bob"), results)
    assert log.find_request("bob", request_id) == bobs
    assert log.find_request("ann", request_id) == anns


def test_requests_without_an_id_are_all_accepted(log: IngestLog) -> None:
    records = [accept(log, [write_result()]) for _ in range(3)]
    assert rounds(log) == [tuple(record.ingest_id for record in records)]


def test_an_ingest_that_is_accepted_twice_is_committed_once(log: IngestLog) -> None:
    results = [write_result()]
    record = ingest_of(results)
    assert log.accept(record, results) == log.accept(record, results)
    assert rounds(log) == [(record.ingest_id,)]


def test_of_many_at_once_with_one_request_id_one_wins(log: IngestLog) -> None:
    request_id = uuid4()
    with ThreadPoolExecutor(8) as pool:
        records = list(pool.map(lambda _: accept(log, [write_result()], request_id), range(16)))
    assert len({record.ingest_id for record in records}) == 1
    assert rounds(log) == [(records[0].ingest_id,)]


def test_where_something_has_waited_longest_comes_first(log: IngestLog) -> None:
    for key in (ORDERS, LOGS, ORDERS):
        accept(log, [write_result(key)])
    assert log.waiting().keys == [ORDERS, LOGS]
    rounds(log, ORDERS)
    assert log.waiting().keys == [LOGS]


def test_a_round_has_all_that_waits_with_its_files(log: IngestLog) -> None:
    results = [[write_result(LOGS, 2, column_ids=(number,)), write_result(ORDERS)] for number in range(3)]
    records = [accept(log, result) for result in results]
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        committable = pending.committable
    assert committable.key == LOGS
    assert committable.ingest_ids == tuple(record.ingest_id for record in records)
    assert committable.write_results == tuple(result[0] for result in results)


def test_what_is_committed_has_its_snapshot_and_waits_no_more(log: IngestLog) -> None:
    record = accept(log, [write_result(LOGS), write_result(ORDERS)])
    with log.round(ORDERS, MANY) as pending:
        assert pending is not None
        committed_as(pending, 2**62)
    found = log.find(record.ingest_id)
    assert found is not None
    assert [commit.snapshot_id for commit in found.commits] == [None, 2**62]
    assert found.state is IngestState.ACCEPTED
    rounds(log, LOGS)
    found = log.find(record.ingest_id)
    assert found is not None
    assert found.state is IngestState.COMMITTED
    assert log.waiting().keys == []


def test_late_records_of_each_result_are_known_once_they_are_committed(log: IngestLog) -> None:
    results = [[write_result(), write_result()], [write_result()], [write_result()]]
    records = [accept(log, result) for result in results]
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        pending.committed(CommitResult(LOGS, 7, 1, 10, 1_000, late_counts=(0, 3, 0, 2)))
    found = [log.find(record.ingest_id) for record in records]
    commits = [record.commits[0] for record in found if record is not None]
    assert [commit.snapshot_id for commit in commits] == [7, 7, 7]
    late = [[target.late_count for target in commit.targets] for commit in commits]
    assert (late[0], sum(late[1]), late[2]) == ([0, 3], 0, [2])


def test_what_is_refused_has_its_reason_and_waits_no_more(log: IngestLog) -> None:
    record = accept(log, [write_result()])
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        pending.refused("TABLE_CHANGED", "other spec")
    found = log.find(record.ingest_id)
    assert found is not None
    [commit] = found.commits
    assert (commit.error_code, commit.error_detail) == ("TABLE_CHANGED", "other spec")
    assert found.state is IngestState.FAILED
    assert rounds(log) == []


def test_a_round_that_is_postponed_says_why_until_it_is_committed(log: IngestLog) -> None:
    record = accept(log, [write_result()])
    for _ in "twice":
        with log.round(LOGS, MANY) as pending:
            assert pending is not None
            pending.postponed("There is no table.")
    found = log.find(record.ingest_id)
    assert found is not None
    [commit] = found.commits
    assert (found.state, commit.error_code, commit.error_detail) == (
        IngestState.ACCEPTED,
        None,
        "There is no table.",
    )
    assert log.waiting().ingest_count == 1
    rounds(log)
    found = log.find(record.ingest_id)
    assert found is not None
    assert (found.state, found.commits[0].error_detail) == (IngestState.COMMITTED, None)


def test_a_round_is_open_until_it_has_ended_or_has_other_files(log: IngestLog) -> None:
    first = accept(log, [write_result()])
    accept(log, [write_result()])
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        # An ingest accepted from here on is in another round.
        accept(log, [write_result()])
        assert pending.is_open()
        again = (write_result(spec_id=1),)
        revised = pending.revise([RoundRevision(first.ingest_id, again)], "TABLE_CHANGED").pending
        assert revised is not None
        assert (pending.is_open(), revised.is_open()) == (False, True)
        committed_as(revised, 1)
        assert not revised.is_open()


def test_a_revision_takes_the_place_of_what_was_accepted(log: IngestLog) -> None:
    first, second = (accept(log, [write_result()]) for _ in "ab")
    again = (write_result(files=3, spec_id=1), write_result(spec_id=1, column_ids=(1,)))
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        last = pending.parts[1]
        revised = pending.revise([RoundRevision(first.ingest_id, again)], "TABLE_CHANGED")
        assert revised.taken == {first.ingest_id}
        assert revised.pending is not None
        committable = revised.pending.committable
    assert committable.round_id == pending.committable.round_id
    assert committable.write_results == (*again, *last.write_results)
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        assert pending.committable == committable
        assert [part.ingest_id for part in pending.parts] == [first.ingest_id, second.ingest_id]
    found = log.find(first.ingest_id)
    assert found is not None
    assert [(target.data_file_count, target.column_ids) for target in found.commits[0].targets] == [
        (3, (2, 1)),
        (1, (1,)),
    ]


def test_a_revision_that_refuses_an_ingest_leaves_the_others_of_its_round(log: IngestLog) -> None:
    first, second = (accept(log, [write_result()]) for _ in "ab")
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        revised = pending.revise([RoundRevision(first.ingest_id, refusal="gone")], "TABLE_CHANGED")
        assert revised.pending is not None
        assert revised.pending.committable.ingest_ids == (second.ingest_id,)
        committed_as(revised.pending, 1)
    found = [log.find(record.ingest_id) for record in (first, second)]
    assert [record and (record.commits[0].error_code, record.commits[0].snapshot_id) for record in found] == [
        ("TABLE_CHANGED", None),
        (None, 1),
    ]


def test_a_round_of_which_every_ingest_is_refused_is_over(log: IngestLog) -> None:
    record = accept(log, [write_result()])
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        revised = pending.revise([RoundRevision(record.ingest_id, refusal="gone")], "TABLE_CHANGED")
        assert (revised.taken, revised.pending) == (frozenset({record.ingest_id}), None)
    assert log.waiting().keys == []


def test_all_that_is_refused_is_counted_once(log: IngestLog) -> None:
    records = [accept(log, [write_result()]) for _ in range(4)]
    refusals = [RoundRevision(record.ingest_id, refusal="gone") for record in records[:2]]
    rewritten = RoundRevision(records[2].ingest_id, (write_result(spec_id=1),))
    counts: list[int] = []
    with log.round(LOGS, MANY, counts.append) as pending:
        assert pending is not None
        revised = pending.revise([*refusals, rewritten], "TABLE_CHANGED")
        assert sum(counts) == 2
        pending.revise(refusals, "TABLE_CHANGED")
        assert sum(counts) == 2
        assert revised.pending is not None
        revised.pending.refused("TABLE_CHANGED", "other spec")
    assert sum(counts) == 4
    accept(log, [write_result()])
    with log.round(LOGS, MANY, counts.append) as pending:
        assert pending is not None
        committed_as(pending, 1)
        pending.refused("TABLE_CHANGED", "too late")
    assert sum(counts) == 4


def test_what_was_revised_meanwhile_is_neither_revised_nor_refused_unseen(log: IngestLog) -> None:
    record = accept(log, [write_result()])
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        again = (write_result(spec_id=1),)
        pending.revise([RoundRevision(record.ingest_id, again)], "TABLE_CHANGED")
        late = pending.revise([RoundRevision(record.ingest_id, (write_result(),))], "TABLE_CHANGED")
        assert late.taken == frozenset()
        assert late.pending is not None
        assert late.pending.committable.write_results == again
        pending.refused("TABLE_CHANGED", "other spec")
        found = log.find(record.ingest_id)
        assert found is not None
        assert found.state is IngestState.ACCEPTED
        committed_as(late.pending, 1)
        ended = late.pending.revise([RoundRevision(record.ingest_id, refusal="gone")], "TABLE_CHANGED")
        assert (ended.taken, ended.pending) == (frozenset(), None)
    found = log.find(record.ingest_id)
    assert found is not None
    assert found.state is IngestState.COMMITTED


def test_a_round_that_was_left_open_comes_again_before_anything_new(log: IngestLog) -> None:
    first = accept(log, [write_result()])
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        left = pending.committable
    accept(log, [write_result()])
    with log.round(LOGS, 1) as pending:
        assert pending is not None
        assert pending.committable == left
        assert left.ingest_ids == (first.ingest_id,)
        committed_as(pending, 1)
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        assert pending.committable.round_id != left.round_id
        assert first.ingest_id not in pending.committable.ingest_ids


def test_a_round_that_fails_on_the_way_is_left_open(log: IngestLog) -> None:
    accept(log, [write_result()])
    left: list[Committable] = []

    def fail() -> None:
        with log.round(LOGS, MANY) as pending:
            assert pending is not None
            left.append(pending.committable)
            raise CatalogDown

    for _ in range(2):
        with pytest.raises(CatalogDown):
            fail()
    assert left[0] == left[1]


def test_nobody_else_has_a_round_while_it_is_open(log: IngestLog) -> None:
    accept(log, [write_result(LOGS), write_result(ORDERS)])
    with ExitStack() as stack:
        assert stack.enter_context(log.round(LOGS, MANY)) is not None
        assert stack.enter_context(log.round(LOGS, MANY)) is None
        assert stack.enter_context(log.round(ORDERS, MANY)) is not None
    with log.round(LOGS, MANY) as pending:
        assert pending is not None


def test_a_round_takes_no_more_files_than_it_may_but_one_ingest_at_least(log: IngestLog) -> None:
    records = [accept(log, [write_result(files=files)]) for files in (4, 6, 1, 20, 3)]
    sizes = [len(round_) for round_ in rounds(log, max_files=10)]
    assert sizes == [2, 1, 1, 1]
    assert all(log.find(record.ingest_id) is not None for record in records)


def test_a_round_has_no_more_ingests_and_bytes_than_the_operator_lets_it(
    real_log: PostgresIngestLog, metrics_url: str
) -> None:
    for _ in range(5):
        accept(real_log, [write_result()])
    of_two = PostgresIngestLog(metrics_url, round_bounds=RoundBounds(ingests=2))
    small = PostgresIngestLog(metrics_url, round_bounds=RoundBounds(byte_count=1))
    with small.round(LOGS, MANY) as pending:
        assert pending is not None
        assert len(pending.committable.ingest_ids) == 1
        committed_as(pending, 7)
    assert [len(round_) for round_ in rounds(of_two)] == [2, 2]
    for log in (of_two, small):
        log.close()


def test_appends_and_upserts_share_a_round_in_order_of_arrival(log: IngestLog) -> None:
    kinds = [False, False, True, True, False, True, False]
    results = [write_result(is_upsert=kind) for kind in kinds]
    ids = [accept(log, [result]).ingest_id for result in results]
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        assert pending.committable.ingest_ids == tuple(ids)
        assert pending.committable.write_results == tuple(results)


def test_an_upsert_and_what_comes_before_it_are_a_round_as_far_as_they_may_be_joined(
    metrics_url: str,
) -> None:
    """Each result has ten rows. Appends after the last upsert need no comparison."""
    kinds = [False, True, True, False, False, False, True]
    expected = {
        0: [[0], [1], [2, 3, 4, 5], [6]],
        20: [[0, 1], [2, 3, 4, 5], [6]],
        30: [[0, 1, 2, 3, 4, 5], [6]],
        70: [[0, 1, 2, 3, 4, 5, 6]],
    }
    for number, (limit, groups) in enumerate(expected.items()):
        key = replace(LOGS, branch=f"branch-{number}")
        for bounds in (RoundBounds(joined_rows=limit), RoundBounds(joined_files=limit // 10)):
            log = PostgresIngestLog(metrics_url, round_bounds=bounds)
            ids = [accept(log, [write_result(key, is_upsert=kind)]).ingest_id for kind in kinds]
            assert rounds(log, key) == [tuple(ids[index] for index in group) for group in groups]
            log.close()


def test_several_results_of_an_ingest_keep_their_order(log: IngestLog) -> None:
    results = [write_result(is_upsert=True), write_result(), write_result(is_upsert=True)]
    accept(log, results)
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        assert pending.committable.write_results == tuple(results)


def test_an_upsert_passes_nothing_and_nothing_passes_it(log: IngestLog) -> None:
    """An append for one schema may overtake an append for another one."""
    sent = [(3, False), (4, False), (3, False), (3, True), (4, True), (4, False), (3, False)]
    results = [write_result(schema_id=schema_id, is_upsert=upsert) for schema_id, upsert in sent]
    ids = [accept(log, [result]).ingest_id for result in results]
    expected = [(0, 2), (1,), (3,), (4, 5), (6,)]
    assert rounds(log) == [tuple(ids[index] for index in group) for group in expected]


def test_records_with_an_order_have_rounds_of_their_own(log: IngestLog) -> None:
    plain = write_result(is_upsert=True)
    sent = [
        plain if order is None else replace(plain, target=replace(plain.target, order_field_id=order))
        for order in (None, 2, 2, 3, None)
    ]
    ids = [accept(log, [result]).ingest_id for result in sent]
    assert rounds(log) == [(ids[0],), (ids[1], ids[2]), (ids[3],), (ids[4],)]


def test_what_was_written_for_another_spec_or_schema_has_a_round_of_its_own(log: IngestLog) -> None:
    layouts = [(3, 0), (3, 1), (3, 0), (4, 0)]
    ids = [
        accept(log, [write_result(schema_id=schema_id, spec_id=spec_id)]).ingest_id
        for schema_id, spec_id in layouts
    ]
    assert rounds(log) == [(ids[0], ids[2]), (ids[1],), (ids[3],)]


def test_an_ingest_without_files_is_committed_like_any_other(log: IngestLog) -> None:
    results = [write_result(files=0)]
    record = accept(log, results)
    with log.round(LOGS, MANY) as pending:
        assert pending is not None
        assert pending.committable.write_results == tuple(results)
        committed_as(pending, 7)
    found = log.find(record.ingest_id)
    assert found is not None
    assert found.state is IngestState.COMMITTED


@pytest.mark.parametrize(
    "ask",
    [
        lambda log: accept(log, [write_result()]),
        lambda log: log.find(uuid4()),
        lambda log: log.find_request("ann", uuid4()),
        lambda log: log.waiting(),
        lambda log: rounds(log),
    ],
    ids=["accept", "find", "find_request", "waiting", "round"],
)
def test_a_log_that_is_down_raises_without_address_or_secret(
    log_that_is_down: IngestLog, ask: Callable[[IngestLog], object]
) -> None:
    with pytest.raises(MetricsStoreDown) as caught:
        ask(log_that_is_down)
    assert "127.0.0.1" not in caught.value.detail
    assert "topsecret" not in caught.value.detail


def test_two_replicas_never_have_one_round(real_log: PostgresIngestLog, metrics_url: str) -> None:
    other = PostgresIngestLog(metrics_url)
    accept(real_log, [write_result()])
    with real_log.round(LOGS, MANY) as mine, other.round(LOGS, MANY) as theirs:
        assert mine is not None
        assert theirs is None
    with other.round(LOGS, MANY) as theirs:
        assert theirs is not None
        assert theirs.committable == mine.committable
    other.close()


def test_a_round_whose_connection_dies_is_left_to_others_with_its_id(
    real_log: PostgresIngestLog, metrics_url: str
) -> None:
    accept(real_log, [write_result()])
    other = PostgresIngestLog(metrics_url)
    with real_log.round(LOGS, MANY) as mine:
        assert mine is not None
        execute(metrics_url, END_WHO_HAS_LOCKS)
        with other.round(LOGS, MANY) as theirs:
            assert theirs is not None
            assert theirs.committable == mine.committable
            committed_as(theirs, 5)
        with pytest.raises(MetricsStoreDown):
            committed_as(mine, 6)
    other.close()
    found = real_log.find(mine.committable.ingest_ids[0])
    assert found is not None
    assert [commit.snapshot_id for commit in found.commits] == [5]
    with real_log.round(LOGS, MANY) as pending:
        assert pending is None


def test_what_cannot_be_read_any_more_is_refused_and_holds_up_nothing(
    real_log: PostgresIngestLog, metrics_url: str
) -> None:
    broken, whole = accept(real_log, [write_result()]), accept(real_log, [write_result()])
    execute(
        metrics_url, f"UPDATE ingest_commits SET results = 'rubbish' WHERE ingest_id = '{broken.ingest_id}'"
    )
    counts: list[int] = []
    with real_log.round(LOGS, MANY, counts.append):
        assert counts == [1]
    assert rounds(real_log) == [(whole.ingest_id,)]
    found = real_log.find(broken.ingest_id)
    assert found is not None
    assert found.commits[0].error_code == "COMMITTABLE_UNREADABLE"


def test_what_a_newer_gateway_wrote_waits_for_one(real_log: PostgresIngestLog, metrics_url: str) -> None:
    record = accept(real_log, [write_result()])
    execute(metrics_url, r"UPDATE ingest_commits SET results = 'SLWR\000\000\000\011'")
    with pytest.raises(CommittableVersionUnknown), real_log.round(LOGS, MANY):
        pass
    found = real_log.find(record.ingest_id)
    assert found is not None
    assert found.state is IngestState.ACCEPTED


def test_files_that_are_in_a_snapshot_are_not_stored_twice(
    real_log: PostgresIngestLog, metrics_url: str
) -> None:
    accept(real_log, [write_result()])
    rounds(real_log)
    engine = create_engine(metrics_url)
    with engine.begin() as connection:
        assert sizes_of_results(connection) == [None]
    engine.dispose()


def test_what_describes_refused_files_is_stored_so_that_their_rows_can_be_found(
    real_log: PostgresIngestLog, metrics_url: str
) -> None:
    first, second = (accept(real_log, [write_result()]) for _ in "ab")
    with real_log.round(LOGS, MANY) as pending:
        assert pending is not None
        revised = pending.revise([RoundRevision(first.ingest_id, refusal="gone")], "TABLE_CHANGED")
        assert revised.pending is not None
        revised.pending.refused("TABLE_NOT_FOUND", "gone")
    found = real_log.find(second.ingest_id)
    assert found is not None
    assert found.state is IngestState.FAILED
    engine = create_engine(metrics_url)
    with engine.begin() as connection:
        sizes = sizes_of_results(connection)
        assert len(sizes) == 2
        assert None not in sizes
    engine.dispose()


LOSES_WHAT_A_CRASH_TAKES = """
CREATE FUNCTION must_be_durable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('synchronous_commit') <> 'on' THEN
        RAISE EXCEPTION 'a crash could take this';
    END IF;
    RETURN NEW;
END $$
"""


def test_what_is_accepted_is_durable_whatever_the_database_is_set_to(
    real_log: PostgresIngestLog, metrics_url: str
) -> None:
    database = make_url(metrics_url).database
    execute(
        metrics_url,
        f'ALTER DATABASE "{database}" SET synchronous_commit = off',
        LOSES_WHAT_A_CRASH_TAKES,
        "CREATE TRIGGER is_durable BEFORE INSERT OR UPDATE ON ingest_commits "
        "FOR EACH ROW EXECUTE FUNCTION must_be_durable()",
    )
    try:
        with pytest.raises(DatabaseError, match="a crash could take this"):
            execute(
                metrics_url,
                "INSERT INTO ingests (ingest_id, caller, fingerprint, accepted_at, write_ms) "
                "VALUES (gen_random_uuid(), 'ann', 'f', now(), 1)",
                "INSERT INTO ingest_commits SELECT ingest_id FROM ingests",
            )
        record = accept(
            real_log, [write_result(TableKey(TableName("lake", "s", f"t{n}"))) for n in range(30)]
        )
        assert len(rounds(real_log, record.commits[0].key)) == 1
        with real_log.round(record.commits[1].key, MANY) as pending:
            assert pending is not None
            pending.refused("TABLE_CHANGED", "other spec")
    finally:
        execute(
            metrics_url,
            f'ALTER DATABASE "{database}" RESET synchronous_commit',
            "DROP FUNCTION must_be_durable CASCADE",
        )


def test_names_with_anything_in_them_stay_apart(real_log: PostgresIngestLog) -> None:
    odd = TableKey(TableName("lake", 'a."b"', "c'd%"), "x/ü😀")
    accept(real_log, [write_result(odd)])
    assert real_log.waiting().keys == [odd]
    assert len(rounds(real_log, odd)) == 1


def test_an_ingest_with_results_for_a_table_that_it_does_not_name_is_a_mistake(
    real_log: PostgresIngestLog,
) -> None:
    with pytest.raises(ValueError, match="results for no other"):
        real_log.accept(ingest_of([write_result(LOGS)]), [write_result(ORDERS)])


def sizes_of_results(connection: Connection) -> list[int | None]:
    return list(connection.scalars(text("SELECT length(results) FROM ingest_commits")))


def test_what_was_rejected_is_stored_with_its_places(log: IngestLog) -> None:
    results = [write_result()]
    samples = (
        BadRecord("/records/3", "id is required"),
        BadRecord("", "no JSON", line=7, column=2),
        BadRecord("", "out of range", row=9),
    )
    record = replace(ingest_of(results), rejected=Rejected(2**40, samples))
    log.accept(record, results)
    assert log.find(record.ingest_id) == record
