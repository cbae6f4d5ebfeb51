"""Streams over fakes: repeated micro-batches, parts that go down, and replicas that take over."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from structlog.testing import capture_logs

from service.adapters.clock import SystemClock
from service.adapters.sources.find import FoundSources
from service.adapters.sources.storage import SourceAccess
from service.adapters.sources.stream_sources import AllowedStreamSources, AllowedTopics
from service.errors.gateway_error import GatewayError
from service.errors.ingest_errors import IngestInvalid, RecordsInvalid, TooManyIngests, WriteSchemaInvalid
from service.errors.query_errors import RequestIdReused
from service.errors.source_errors import (
    SourceChanged,
    SourceInvalid,
    SourceNotAllowed,
    StreamFailed,
    StreamInvalid,
    StreamNotFound,
    StreamSourceDown,
)
from service.errors.table_errors import TableChanged, TableNotFound
from service.errors.unavailable import EngineLost, EngineNotReady, MetricsStoreDown, ShuttingDown
from service.ingest.decoding.streams.read_bounds import ReadBounds
from service.ingest.ingest_service import Accepted
from service.ingest.streaming.creator_policies import CreatorRights, NoCreatorPolicies
from service.ingest.streaming.stream_ports import StreamPace, StreamPorts
from service.ingest.streaming.stream_service import StreamService
from service.model.authentication.principals import Principal, PrincipalKind
from service.model.ingest.ingest import IngestRecord, IngestState, OnError
from service.model.ingest.ingest_request import ColumnNames, InferredColumns, IngestRequest, Route, Write
from service.model.ingest.record_deletes import Envelope
from service.model.ingest.record_formats import RecordFormat
from service.model.ingest.sources import SourceBounds, SourceRecords
from service.model.ingest.stream_standing import StreamProgress, StreamStanding
from service.model.ingest.streams import (
    DirectorySource,
    KafkaSource,
    StreamDefinition,
    StreamRecord,
    StreamSource,
    StreamState,
)
from service.model.ingest.writing import Committable, TableKey, WritableTable
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.tables.dead_letter_names import dead_letter_name
from service.model.tables.tables import TableName
from service.ports.tables.sources import never
from tests.fakes.ingest_service import FakeIngests
from tests.fakes.micro_batches import FakeMicroBatch, FakeStreamQueries
from tests.fakes.stream_metrics import FakeStreamMetrics
from tests.fakes.stream_store import FakeStreamStore
from tests.polling import until
from tests.unit.ingest.wide_table import DAY, ID, NOTE, with_columns

WITHIN_S = 20
BOB = Principal("bob", PrincipalKind.TOKEN)
ANN = Principal("ann", PrincipalKind.TOKEN, frozenset({"loader"}))
TABLE = with_columns(ID, NOTE, DAY)
OTHERS = replace(TABLE, key=TableKey(TableName("lake", "logs", "others")), table_uuid=UUID(int=2))
PACE = StreamPace(
    running_at_most=2, look_around_ms=10, first_pause_ms=10, longest_pause_ms=20, standing_ms=10
)


class SettableClock(SystemClock):
    """Time elapses as in reality; the wall clock may be set."""

    set_by = timedelta()

    def now(self) -> datetime:
        return super().now() + self.set_by


class Running:
    """One replica's streams, on a shared store."""

    def __init__(
        self,
        ingests: FakeIngests,
        store: FakeStreamStore,
        folder: Path,
        policies: CreatorRights | None = None,
    ) -> None:
        self.ingests = ingests
        self.store = store
        self.queries = FakeStreamQueries()
        access = SourceAccess((folder.as_uri(),))
        sources = AllowedStreamSources(
            FoundSources(access, SourceBounds()), access, AllowedTopics(("kafka:9092",))
        )
        self.metrics = FakeStreamMetrics()
        self.clock = SettableClock()
        ports = StreamPorts(
            store=store,
            queries=self.queries,
            sources=sources,
            clock=self.clock,
            metrics=self.metrics,
            policies=policies or NoCreatorPolicies(),
        )
        self.streams = StreamService(ports, ingests, self.definition, PACE)
        self.folder = folder
        self.streams.runner.start()

    def definition(self, body: Mapping[str, Any]) -> StreamDefinition:
        key = TableKey(TableName("lake", "logs", body.get("table", "events")))
        write = Write(
            key,
            (),
            body.get("columns", ColumnNames(("id",))),
            is_upsert=body.get("mode") == "upsert",
            equality_fields=body.get("equalityFields"),
            envelope=body.get("envelope"),
        )
        is_routed = "others" in body
        return StreamDefinition(
            self.source(body.get("uri"), body.get("format", RecordFormat.NDJSON)),
            (write, replace(write, key=OTHERS.key)) if is_routed else (write,),
            Route("id", {body["others"]: 1}, 0) if is_routed else None,
            OnError(body.get("onError", "REJECT_REQUEST")),
            1000,
        )

    def source(self, uri: str | None, record_format: RecordFormat) -> StreamSource:
        if uri is None:
            return KafkaSource("kafka:9092", "clicks")
        return DirectorySource(SourceRecords(uri, record_format))

    def create(self, **body: Any) -> UUID:
        return self.streams.create("clicks", body, ANN, FULL_ACCESS).stream_id

    def resume(self, stream_id: UUID, state: StreamState = StreamState.FAILED) -> None:
        """Waits until the stream has ended in this state, and starts it again."""
        until(lambda: self.record(stream_id).state is state and not self.store.leases)
        self.queries.running.clear()
        self.streams.resume(stream_id, ANN, FULL_ACCESS)

    def record(self, stream_id: UUID) -> StreamRecord:
        return self.streams.find(stream_id, self.store.records[stream_id].caller)

    def give(self, stream_id: UUID, batch: FakeMicroBatch) -> None:
        """Delivers a batch as Spark does: any error ends the query."""
        until(lambda: stream_id in self.queries.running)
        query = self.queries.running[stream_id]
        try:
            query.on_batch(batch)
        except Exception as failure:
            query.failed = failure  # type: ignore[assignment]
            raise

    def ids(self) -> list[int]:
        return sorted(row["id"] for rows in self.ingests.files.files.values() for row in rows)


@pytest.fixture
def ingests() -> Iterator[FakeIngests]:
    made = FakeIngests(TABLE, OTHERS)
    yield made
    made.close(WITHIN_S)


@pytest.fixture
def store() -> FakeStreamStore:
    return FakeStreamStore()


@pytest.fixture
def running(ingests: FakeIngests, store: FakeStreamStore, tmp_path: Path) -> Iterator[Running]:
    made = Running(ingests, store, tmp_path)
    yield made
    made.streams.runner.close(WITHIN_S)


def batch(number: int, *ids: int, checkpoint: UUID) -> FakeMicroBatch:
    return FakeMicroBatch(checkpoint, number, *(f'{{"id": {id_}}}'.encode() for id_ in ids))


CHECKPOINT = uuid4()


def test_what_is_sent_twice_under_one_request_id_is_one_stream(running: Running) -> None:
    request_id = uuid4()
    first = running.streams.create("clicks", {}, ANN, FULL_ACCESS, request_id)
    # A repeated request is not refused, although the limit of streams is reached.
    running.create()
    assert running.streams.create("clicks", {}, ANN, FULL_ACCESS, request_id).stream_id == first.stream_id
    running.streams.stop(first.stream_id, "ann")
    assert running.streams.create("clicks", {}, ANN, FULL_ACCESS, request_id).state is StreamState.STOPPED
    for name, body in (("clicks", {"table": "others"}), ("others", {})):
        with pytest.raises(RequestIdReused):
            running.streams.create(name, body, ANN, FULL_ACCESS, request_id)
    assert running.streams.create("clicks", {}, BOB, FULL_ACCESS, request_id).stream_id != first.stream_id


def test_a_stream_begins_again_when_the_clock_is_set_back_and_not_when_it_is_set_forward(
    running: Running,
) -> None:
    stream_id = running.create()
    until(lambda: stream_id in running.queries.running)
    first = running.queries.running[stream_id]
    running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    running.clock.set_by = timedelta(hours=1)
    other = running.create(table="others")
    until(lambda: other in running.queries.running)
    assert not first.is_stopped
    running.clock.set_by = timedelta()
    until(lambda: first.is_stopped and running.queries.running[stream_id] is not first)
    running.give(stream_id, batch(1, 2, checkpoint=CHECKPOINT))
    assert running.record(stream_id).error_code is None
    assert running.ids() == [1, 2]


def test_each_micro_batch_is_an_ingest_and_counts(running: Running) -> None:
    stream_id = running.create()
    running.give(stream_id, batch(0, 1, 2, checkpoint=CHECKPOINT))
    running.give(stream_id, batch(1, 3, checkpoint=CHECKPOINT))
    record = running.record(stream_id)
    assert (record.batch_count, record.record_count, record.last_batch_id) == (2, 3, 1)
    assert record.checkpoint_id == CHECKPOINT
    assert running.ids() == [1, 2, 3]
    assert len(running.ingests.commits.rounds) == 2


def test_each_micro_batch_is_reported_with_its_topic_and_each_round_with_its_snapshot(
    running: Running,
) -> None:
    running.give(running.create(), batch(0, 1, 2, checkpoint=CHECKPOINT))
    lineage = running.ingests.lineage
    [(record, read_from)] = lineage.accepted
    assert read_from == "kafka://kafka:9092/clicks"
    [ended] = until(lambda: lineage.rounds, WITHIN_S)
    assert (ended.key, ended.ingest_ids) == (TABLE.key, (record.ingest_id,))
    assert [target.record_count for target in ended.targets] == [2]
    assert ended.snapshot_id is not None


def test_streams_are_reported_by_their_state_and_how_far_they_are_behind(running: Running) -> None:
    def standing() -> StreamStanding:
        return running.streams.runner.standing()

    stream_id = running.create()
    until(lambda: standing().run_here == 1 and standing().by_state[StreamState.RUNNING] == 1)
    query = running.queries.running[stream_id]
    query.is_doing = StreamProgress(messages_behind=7)
    until(lambda: standing().messages_behind == 7 and standing().longest_lag_s > 0.05)
    query.is_doing = StreamProgress(has_nothing_to_do=True, messages_behind=0)
    until(lambda: standing().longest_lag_s < 0.05)
    running.streams.stop(stream_id, "ann")
    stopped = {StreamState.RUNNING: 0, StreamState.STOPPED: 1, StreamState.FAILED: 0}
    until(lambda: standing() == StreamStanding(stopped))


def test_batches_and_what_ended_a_run_are_counted(running: Running) -> None:
    stream_id = running.create()
    running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    running.queries.running[stream_id].failed = EngineLost()
    until(lambda: running.metrics.codes == ["ENGINE_LOST"])
    assert running.metrics.batch_count == 1


def test_each_micro_batch_of_upserts_is_a_round_of_its_own(running: Running) -> None:
    stream_id = running.create(mode="upsert", equalityFields=("id",))
    for number in range(2):
        running.give(stream_id, batch(number, 1, 2, checkpoint=CHECKPOINT))
        running.give(stream_id, batch(number, 1, 2, checkpoint=CHECKPOINT))
    assert running.record(stream_id).record_count == 4
    rounds = running.ingests.commits.rounds
    assert [{result.target.is_upsert for result in round_.write_results} for round_ in rounds] == [
        {True},
        {True},
    ]


def test_a_batch_that_is_given_again_is_not_read_again(running: Running) -> None:
    stream_id = running.create()
    running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    again = batch(0, 1, checkpoint=CHECKPOINT)
    running.give(stream_id, again)
    assert again.run_count == 0
    assert running.ids() == [1]


@pytest.mark.parametrize("number", [0, 1])
def test_a_batch_that_was_planned_again_with_other_records_ends_the_stream(
    running: Running, number: int
) -> None:
    stream_id = running.create()
    for batch_id in (0, 1):
        running.give(stream_id, batch(batch_id, batch_id, checkpoint=CHECKPOINT))
    with pytest.raises(StreamFailed, match="checkpoint has gone back"):
        running.give(stream_id, batch(number, number, 7, checkpoint=CHECKPOINT))
    until(lambda: running.record(stream_id).state is StreamState.FAILED)
    assert running.ids() == [0, 1]


def test_a_batch_that_a_crash_cut_off_must_be_the_same_when_it_is_given_again(running: Running) -> None:
    first, second = running.create(), running.create()
    running.give(first, batch(0, 1, checkpoint=CHECKPOINT))
    # The second stream plays the first one after a crash, before its row recorded the batch.
    with pytest.raises(StreamFailed, match="checkpoint has gone back"):
        running.give(second, batch(0, 1, 2, checkpoint=CHECKPOINT))
    assert running.ids() == [1]


class Planned(FakeMicroBatch):
    """A batch of a folder, whose own position is only a number."""

    def position(self) -> str:
        return '{"logOffset":0}'


def test_a_batch_of_a_folder_that_was_planned_again_is_reported_by_its_files(running: Running) -> None:
    stream_id = running.create(uri=running.folder.as_uri())
    first = Planned(CHECKPOINT, 0)
    running.give(stream_id, first)
    running.give(stream_id, first)
    with pytest.raises(StreamFailed, match="checkpoint has gone back"):
        running.give(stream_id, Planned(CHECKPOINT, 0, files=[f"{running.folder.as_uri()}/1.ndjson"]))


def test_a_batch_that_was_accepted_before_a_crash_finds_its_ingest(running: Running) -> None:
    first, second = running.create(), running.create()
    running.give(first, batch(0, 1, checkpoint=CHECKPOINT))
    # The second stream plays the first one after a crash, before its row recorded the batch.
    again = batch(0, 1, checkpoint=CHECKPOINT)
    running.give(second, again)
    assert again.run_count == 0
    assert running.ids() == [1]
    assert running.record(second).record_count == 1


class Unannounced(FakeIngests):
    """Its committer notifies nobody of a settled table, so only the log knows."""

    find_count = 0

    def accept(
        self, request: IngestRequest, caller: str, access: Access, is_canceled: Callable[[], bool] = never
    ) -> Accepted:
        return Accepted(super().accept(request, caller, access, is_canceled).record, Future())

    def find(self, ingest_id: UUID, caller: str) -> IngestRecord:
        self.find_count += 1
        return super().find(ingest_id, caller)


@pytest.fixture
def unannounced(store: FakeStreamStore, tmp_path: Path) -> Iterator[Running]:
    ingests = Unannounced(TABLE, OTHERS)
    made = Running(ingests, store, tmp_path)
    yield made
    made.streams.runner.close(WITHIN_S)
    ingests.close(WITHIN_S)


def test_a_batch_ends_when_the_log_says_so_though_nobody_is_notified(unannounced: Running) -> None:
    stream_id = unannounced.create()
    unannounced.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    assert unannounced.record(stream_id).record_count == 1


def test_the_next_attempt_waits_until_every_table_is_settled(unannounced: Running) -> None:
    refused: set[TableKey] = set()

    def refuse_each_once(committable: Committable) -> None:
        if committable.key not in refused:
            refused.add(committable.key)
            raise TableChanged("it is another one")

    ingests = unannounced.ingests
    assert isinstance(ingests, Unannounced)
    ingests.commits.before_commit = refuse_each_once
    ingests.log.taken_elsewhere.add(TABLE.key)
    stream_id = unannounced.create(others="2")
    with ThreadPoolExecutor() as spark:
        given = spark.submit(unannounced.give, stream_id, batch(0, 1, 2, checkpoint=CHECKPOINT))
        until(lambda: any(record.state is IngestState.FAILED for record in ingests.log.records()))
        looked = ingests.find_count
        until(lambda: ingests.find_count > looked + 1)
        # Rows left out of a second attempt would be in no table.
        ingests.log.taken_elsewhere.clear()
        given.result(WITHIN_S)
    assert delivered(unannounced) == [("row", 1), ("row", 2)]


def test_a_stream_is_resumed_once_what_refused_all_attempts_is_fixed(running: Running) -> None:
    stream_id = running.create()
    running.ingests.commits.failures = [TableChanged("a tag")] * 20
    # Attempts of earlier runs do not count, but each run has a bounded number.
    for _ in range(2):
        tried = batch(0, 1, checkpoint=CHECKPOINT)
        with pytest.raises(StreamFailed, match="a tag"):
            running.give(stream_id, tried)
        assert tried.run_count == 10
        running.resume(stream_id)
    fixed = batch(0, 1, checkpoint=CHECKPOINT)
    running.give(stream_id, fixed)
    assert fixed.run_count == 1
    assert running.record(stream_id).record_count == 1
    # After a crash, the committed attempt is found behind all failed ones.
    again = batch(0, 1, checkpoint=CHECKPOINT)
    other = running.create()
    running.give(other, again)
    assert (again.run_count, running.record(other).record_count) == (0, 1)
    assert len(running.ingests.commits.rounds) == 1


def test_what_earlier_attempts_have_brought_is_left_out_after_a_resume(running: Running) -> None:
    def refuse_others(committable: Committable) -> None:
        if committable.key == OTHERS.key:
            raise TableChanged("a tag")

    running.ingests.commits.before_commit = refuse_others
    stream_id = running.create(others="2")
    with pytest.raises(StreamFailed, match=r"lake\.logs\.others refused the files: a tag"):
        running.give(stream_id, batch(0, 1, 2, checkpoint=CHECKPOINT))
    running.ingests.commits.before_commit = lambda _: None
    running.resume(stream_id)
    running.give(stream_id, batch(0, 1, 2, checkpoint=CHECKPOINT))
    rounds = running.ingests.commits.rounds
    assert [round_.key for round_ in rounds] == [TABLE.key, OTHERS.key]
    assert [result.record_count for round_ in rounds for result in round_.write_results] == [1, 1]
    assert running.record(stream_id).record_count == 2


def test_an_attempt_that_waits_behind_those_that_failed_is_not_made_again(running: Running) -> None:
    stream_id = running.create()
    running.ingests.commits.failures = [TableChanged("a tag")] * 10
    with pytest.raises(StreamFailed):
        running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    running.ingests.log.taken_elsewhere.add(TABLE.key)
    running.resume(stream_id)
    with ThreadPoolExecutor() as spark:
        waiting = spark.submit(running.give, stream_id, batch(0, 1, checkpoint=CHECKPOINT))
        until(lambda: running.ingests.log.waiting().keys)
        running.streams.stop(stream_id, "ann")
        with pytest.raises(ShuttingDown):
            waiting.result(WITHIN_S)
    running.resume(stream_id, StreamState.STOPPED)
    running.ingests.log.taken_elsewhere.clear()
    again = batch(0, 1, checkpoint=CHECKPOINT)
    running.give(stream_id, again)
    assert (again.run_count, running.record(stream_id).record_count) == (0, 1)
    assert len(running.ingests.commits.rounds) == 1


def test_another_checkpoint_is_not_read_from(running: Running) -> None:
    stream_id = running.create()
    running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
    running.streams.stop(stream_id, "ann")
    until(lambda: not running.store.leases)
    running.queries.running.clear()
    running.streams.resume(stream_id, ANN, FULL_ACCESS)
    with pytest.raises(StreamFailed, match="checkpoint is gone"):
        running.give(stream_id, batch(0, 1, checkpoint=uuid4()))
    until(lambda: running.record(stream_id).state is StreamState.FAILED)
    assert running.ids() == [1]


def test_a_bad_record_ends_the_stream_and_nothing_of_its_batch_is_written(running: Running) -> None:
    stream_id = running.create()
    with pytest.raises(RecordsInvalid):
        running.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, b'{"id": 1}', b'{"id": "x"}'))
    until(lambda: running.record(stream_id).state is StreamState.FAILED)
    record = running.record(stream_id)
    assert record.error_code == "RECORDS_INVALID"
    reported = "1 of 2 records do not fit. The first: partition 0, offset 41: id: "
    assert (record.error_detail or "").startswith(reported)
    assert running.ids() == []
    assert not running.store.leases


def test_bad_records_become_dead_letters_and_the_stream_goes_on(running: Running) -> None:
    stream_id = running.create(onError="DEAD_LETTER")
    running.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, b'{"id": 1}', b'{"id": "x"}'))
    record = running.record(stream_id)
    assert (record.state, record.record_count, record.rejected_count) == (StreamState.RUNNING, 1, 1)
    [dead_letter] = [row for rows in running.ingests.files.files.values() for row in rows if "payload" in row]
    assert dead_letter["position"] == "partition 0, offset 41"


def test_events_of_a_topic_write_and_delete_and_others_become_dead_letters(running: Running) -> None:
    asked = {"mode": "upsert", "equalityFields": ("id",), "envelope": Envelope.DEBEZIUM}
    stream_id = running.create(onError="DEAD_LETTER", columns=None, **asked)
    created, deleted, truncated = (
        b'{"payload": {"op": "c", "before": null, "after": {"id": 1, "note": "a"}}}',
        b'{"payload": {"op": "d", "before": {"id": 2}, "after": null}}',
        b'{"payload": {"op": "t"}}',
    )
    # The tombstone after a delete has no value.
    running.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, created, deleted, b"", truncated))
    record = running.record(stream_id)
    assert (record.state, record.record_count, record.rejected_count) == (StreamState.RUNNING, 2, 1)
    rows = [row for rows in running.ingests.files.files.values() for row in rows]
    assert [row["payload"] for row in rows if "payload" in row] == [truncated.decode()]
    # The keys of both are deleted, and one of them has a row.
    assert [row for row in rows if "payload" not in row and row.get("note")] == [
        {"id": 1, "note": "a", "day": None}
    ]
    assert sorted(row["id"] for row in rows if row.keys() == {"id"}) == [1, 2]


def test_a_stream_of_files_that_have_no_envelope_is_refused(running: Running, tmp_path: Path) -> None:
    asked = {"mode": "upsert", "equalityFields": ("id",), "envelope": Envelope.DEBEZIUM}
    with pytest.raises(IngestInvalid, match="Only JSON"):
        running.create(uri=tmp_path.as_uri(), format=RecordFormat.CSV, **asked)
    assert running.create(uri=tmp_path.as_uri(), **asked)


DEAD_LETTER_TABLE = dead_letter_name(TABLE.key.table)
MIXED = (b'{"id": 1}', b'{"id": "x"}', b'{"id": 2, "note": "n"}')
ALL_OF_NOTES = replace(with_columns(ID, NOTE, DAY), table_uuid=UUID(int=8))
WITHOUT_NOTES = replace(with_columns(ID, DAY), table_uuid=UUID(int=9))


def delivered(running: Running) -> list[tuple[str, object]]:
    """Returns the contents of the tables: ids of rows, and positions of dead letters."""
    return sorted(
        ("letter", row["position"]) if committable.key.table == DEAD_LETTER_TABLE else ("row", row["id"])
        for committable in running.ingests.commits.rounds
        for result in committable.write_results
        for file in result.data_files
        for row in running.ingests.files.files[json.loads(file)["file-path"]]
    )


def refusing_once(running: Running, refused: TableName, after: WritableTable) -> None:
    """Refuses the first commit to a table, and replaces the stream's table."""
    calls: list[TableName] = []

    def refuse(committable: Committable) -> None:
        calls.append(committable.key.table)
        if committable.key.table == refused and calls.count(refused) == 1:
            running.ingests.tables.put(after)
            raise TableChanged("it is another one")

    running.ingests.commits.before_commit = refuse


@pytest.mark.parametrize(
    ("before", "refused", "after", "dead_letters"),
    [
        pytest.param(TABLE, TABLE.key.table, WITHOUT_NOTES, [41, 42], id="fits no more"),
        pytest.param(WITHOUT_NOTES, TABLE.key.table, ALL_OF_NOTES, [41], id="fits by now"),
        pytest.param(
            TABLE, DEAD_LETTER_TABLE, WITHOUT_NOTES, [41], id="fits no more when letters are tried again"
        ),
        pytest.param(
            WITHOUT_NOTES, DEAD_LETTER_TABLE, ALL_OF_NOTES, [41, 42], id="fits when letters are tried again"
        ),
    ],
)
def test_each_record_is_a_row_or_a_dead_letter_once_though_its_table_changes_between_attempts(
    running: Running, before: WritableTable, refused: TableName, after: WritableTable, dead_letters: list[int]
) -> None:
    running.ingests.tables.put(before)
    refusing_once(running, refused, after)
    stream_id = running.create(onError="DEAD_LETTER", columns=None)
    running.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, *MIXED))
    expected = [("letter", f"partition 0, offset {letter}") for letter in dead_letters]
    expected_rows = [("row", row) for offset, row in {40: 1, 42: 2}.items() if offset not in dead_letters]
    assert delivered(running) == [*expected, *expected_rows]
    record = running.record(stream_id)
    assert (record.record_count, record.rejected_count) == (3 - len(dead_letters), len(dead_letters))
    # After a crash, the whole batch is found.
    other = running.create(onError="DEAD_LETTER", columns=None)
    again = FakeMicroBatch(CHECKPOINT, 0, *MIXED)
    running.give(other, again)
    assert again.run_count == 0
    assert running.record(other).rejected_count == len(dead_letters)


def test_dead_letters_are_by_the_attempt_that_settled_their_table(running: Running) -> None:
    refusing_once(running, OTHERS.key.table, WITHOUT_NOTES)
    stream_id = running.create(onError="DEAD_LETTER", columns=None, others="2")
    lines = (*MIXED, b'{"id": 3, "note": 1}', b'{"id": 2, "note": 1}', b"no record")
    running.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, *lines))
    names = {round_.key.table.table for round_ in running.ingests.commits.rounds}
    assert names == {"events", "others", "events__dead_letter", "others__dead_letter"}
    rows = [row for file in running.ingests.files.files.values() for row in file]
    positions = sorted(row["position"] for row in rows if "payload" in row)
    assert positions == [f"partition 0, offset {offset}" for offset in (41, 43, 44, 45)]


@pytest.fixture
def folder(store: FakeStreamStore, tmp_path: Path) -> Iterator[Running]:
    """Streams over a folder, whose files are read in parts of 512 bytes; a line has at most 600 bytes."""
    reading = ReadBounds(line_bytes=600)
    ingests = FakeIngests(TABLE, OTHERS, sources_folder=tmp_path, reading=reading)
    made = Running(ingests, store, tmp_path)
    yield made
    made.streams.runner.close(WITHIN_S)
    ingests.close(WITHIN_S)


def put(folder: Path, name: str, *lines: bytes) -> str:
    content = b"".join(line + b"\n" for line in lines)
    (folder / name).write_bytes(gzip.compress(content)[:-9] if name.endswith(".gz") else content)
    return (folder / name).as_uri()


def with_unreadable(folder: Path) -> list[str]:
    """Writes a truncated file, one with a bad record, and one whose last line is too long."""
    many = [b'{"id": %d}' % number for number in range(100, 300)]
    return [
        put(folder, "a.json.gz", *many),
        put(folder, "b.json", b'{"id": 1}', b'{"id": "x"}', b'{"id": 2}'),
        put(folder, "c.json", *many, b'{"id": 300, "note": "%s"}' % (b"x" * 600)),
    ]


def test_a_file_that_cannot_be_read_is_one_dead_letter_and_nothing_of_it_is_written(folder: Running) -> None:
    files = with_unreadable(folder.folder)
    asked = {"uri": folder.folder.as_uri(), "onError": "DEAD_LETTER"}
    stream_id = folder.create(**asked)
    folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=files))
    positions = [files[0], f"{files[1]}, line 2", files[2]]
    expected: list[tuple[str, object]] = [("letter", position) for position in positions]
    assert delivered(folder) == sorted([*expected, ("row", 1), ("row", 2)])
    record = folder.record(stream_id)
    reported = (record.state, record.record_count, record.rejected_count)
    assert reported == (StreamState.RUNNING, 2, 3)
    rows = [row for file in folder.ingests.files.files.values() for row in file]
    reasons = {row["position"]: row["reason"] for row in rows if "payload" in row}
    assert reasons[files[0]].startswith(f"{files[0]}: The body cannot be read as gzip")
    assert reasons[files[2]].startswith(f"{files[2]}: A line")
    # The files of the first attempt were removed.
    assert {row["id"] for row in rows if "id" in row} == {1, 2}
    # After a crash, the whole batch is found.
    again = folder.create(**asked)
    folder.give(again, FakeMicroBatch(CHECKPOINT, 0, files=files))
    assert delivered(folder) == sorted([*expected, ("row", 1), ("row", 2)])
    assert folder.record(again).rejected_count == 3


def test_a_batch_of_files_that_cannot_be_read_has_dead_letters_alone(folder: Running) -> None:
    files = with_unreadable(folder.folder)
    stream_id = folder.create(uri=folder.folder.as_uri(), onError="DEAD_LETTER", others="2")
    folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=[files[0], files[2]]))
    assert delivered(folder) == [("letter", files[0]), ("letter", files[2])]
    folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 1, files=[put(folder.folder, "d.json", b'{"id": 9}')]))
    assert folder.record(stream_id).record_count == 1


def test_a_file_is_a_dead_letter_though_it_can_be_read_by_the_time_that_dead_letters_are_written(
    folder: Running,
) -> None:
    files = with_unreadable(folder.folder)

    def fixed(committable: Committable) -> None:
        if committable.key.table == TABLE.key.table:
            put(folder.folder, "c.json", b'{"id": 7}')

    folder.ingests.commits.before_commit = fixed
    stream_id = folder.create(uri=folder.folder.as_uri(), onError="DEAD_LETTER")
    folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=files))
    assert ("letter", files[2]) in delivered(folder)
    assert ("row", 7) not in delivered(folder)


def others_refused_once(folder: Running, then: Callable[[], object]) -> None:
    """Refuses the second table's first commit, after calling `then`."""
    calls: list[TableName] = []

    def refuse(committable: Committable) -> None:
        calls.append(committable.key.table)
        if committable.key == OTHERS.key and calls.count(OTHERS.key.table) == 1:
            then()
            raise TableChanged("it is another one")

    folder.ingests.commits.before_commit = refuse


TOO_LONG = b'{"id": 300, "note": "%s"}' % (b"x" * 600)
OF_BOTH = (b'{"id": 1}', b'{"id": 1, "note": 5}', b'{"id": 2}')


def test_a_file_that_one_table_went_without_is_left_out_by_the_others_though_it_can_be_read_by_then(
    folder: Running,
) -> None:
    files = [put(folder.folder, "a.json", *OF_BOTH), put(folder.folder, "b.json", b'{"id": 2}', TOO_LONG)]
    others_refused_once(folder, lambda: put(folder.folder, "b.json", b'{"id": 2}'))
    stream_id = folder.create(uri=folder.folder.as_uri(), onError="DEAD_LETTER", others="2")
    folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=files))
    dead_letters: list[tuple[str, object]] = [("letter", f"{files[0]}, line 2"), ("letter", files[1])]
    assert delivered(folder) == [*dead_letters, ("row", 1), ("row", 2)]


def test_a_file_of_which_one_table_has_its_rows_must_be_readable_for_the_others(folder: Running) -> None:
    files = [put(folder.folder, "a.json", *OF_BOTH), put(folder.folder, "b.json", b'{"id": 2}')]
    others_refused_once(folder, lambda: put(folder.folder, "a.json", *OF_BOTH, TOO_LONG))
    stream_id = folder.create(uri=folder.folder.as_uri(), onError="DEAD_LETTER", others="2")
    with pytest.raises(StreamFailed, match=r"a\.json cannot be read for the tables that are left.*A line"):
        folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=files))
    assert delivered(folder) == [("row", 1)]
    folder.resume(stream_id)
    put(folder.folder, "a.json", *OF_BOTH)
    folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=files))
    expected: list[tuple[str, object]] = [
        ("letter", f"{files[0]}, line 2"),
        ("row", 1),
        ("row", 2),
        ("row", 2),
    ]
    assert delivered(folder) == expected


def test_a_file_that_no_table_has_taken_anything_of_may_be_unreadable_for_the_next_attempt(
    folder: Running,
) -> None:
    files = [put(folder.folder, "a.json", b'{"id": 2}'), put(folder.folder, "b.json", b'{"id": 2}')]
    others_refused_once(folder, lambda: put(folder.folder, "b.json", TOO_LONG))
    stream_id = folder.create(uri=folder.folder.as_uri(), onError="DEAD_LETTER", others="2")
    folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=files))
    assert delivered(folder) == [("letter", files[1]), ("row", 2)]


def test_a_file_that_is_a_dead_letter_need_not_be_there_any_more(folder: Running) -> None:
    files = with_unreadable(folder.folder)

    def tidied_up(_: Committable) -> None:
        (folder.folder / "c.json").unlink(missing_ok=True)

    folder.ingests.commits.before_commit = tidied_up
    stream_id = folder.create(uri=folder.folder.as_uri(), onError="DEAD_LETTER")
    # Spark names files on a disk this way.
    named = [file.replace("file:///", "file:/") for file in files]
    folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=named))
    assert ("letter", files[2]) in delivered(folder)
    assert folder.record(stream_id).rejected_count == 3


def test_files_of_subfolders_are_not_read_but_belong_to_what_a_batch_was_taken_in_with(
    folder: Running,
) -> None:
    for name in ("sub", "day=1"):
        (folder.folder / name).mkdir()
    names = ("a.json", "sub/b.json", "day=1/c.json")
    files = [put(folder.folder, name, b'{"id": 1}').replace("file:///", "file:/") for name in names]
    stream_id = folder.create(uri=f"{folder.folder.as_uri()}/")
    folder.give(stream_id, Planned(CHECKPOINT, 0, files=files))
    assert delivered(folder) == [("row", 1)]
    # This batch has only files of subfolders.
    folder.give(stream_id, Planned(CHECKPOINT, 1, files=files[1:]))
    assert folder.record(stream_id).batch_count == 2
    # They are part of a batch, as an earlier version read some of them.
    with pytest.raises(StreamFailed, match="checkpoint has gone back"):
        folder.give(stream_id, Planned(CHECKPOINT, 0, files=files[:2]))


@pytest.mark.parametrize("on_error", ["REJECT_REQUEST", "DEAD_LETTER"])
def test_what_is_in_the_tables_may_be_gone_when_its_batch_is_given_again(
    folder: Running, on_error: str
) -> None:
    files = [put(folder.folder, name, b'{"id": 1}') for name in ("a.json", "b.json")]
    asked = {"uri": folder.folder.as_uri(), "onError": on_error}
    first, second = folder.create(**asked), folder.create(**asked)
    folder.give(first, FakeMicroBatch(CHECKPOINT, 0, files=files))
    (folder.folder / "a.json").unlink()
    folder.give(first, FakeMicroBatch(CHECKPOINT, 0, files=files))
    # The second stream plays the first one after a crash, before its row recorded the batch.
    folder.give(second, FakeMicroBatch(CHECKPOINT, 0, files=files))
    assert delivered(folder) == [("row", 1), ("row", 1)]


def test_a_batch_stays_open_until_a_file_that_was_taken_away_is_back(folder: Running) -> None:
    files = [put(folder.folder, name, b'{"id": 1}') for name in ("a.json", "b.json")]
    (folder.folder / "a.json").unlink()
    stream_id = folder.create(uri=folder.folder.as_uri())
    for _ in range(2):
        with pytest.raises(SourceChanged, match=r"a\.json no longer exists"):
            folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=files))
        folder.resume(stream_id)
    assert (delivered(folder), folder.record(stream_id).batch_count) == ([], 0)
    put(folder.folder, "a.json", b'{"id": 2}')
    folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=files))
    assert delivered(folder) == [("row", 1), ("row", 2)]


def test_a_file_that_was_taken_away_is_one_dead_letter_and_stays_it(folder: Running) -> None:
    files = [put(folder.folder, name, b'{"id": 1}') for name in ("a.json", "b.json")]
    (folder.folder / "a.json").unlink()
    others_refused_once(folder, lambda: put(folder.folder, "a.json", b'{"id": 2}'))
    asked = {"uri": folder.folder.as_uri(), "onError": "DEAD_LETTER", "others": "2"}
    put(folder.folder, "b.json", b'{"id": 1}', b'{"id": 2}', b'{"id": "x"}')
    stream_id, again = folder.create(**asked), folder.create(**asked)
    for id_ in (stream_id, again):
        folder.give(id_, FakeMicroBatch(CHECKPOINT, 0, files=files))
    dead_letters: list[tuple[str, object]] = [("letter", files[0]), ("letter", f"{files[1]}, line 3")]
    assert delivered(folder) == [*dead_letters, ("row", 1), ("row", 2)]
    assert [folder.record(id_).rejected_count for id_ in (stream_id, again)] == [2, 2]
    rows = [row for file in folder.ingests.files.files.values() for row in file]
    [reason] = [row["reason"] for row in rows if row.get("position") == files[0]]
    assert reason == f"{files[0]}: It no longer exists."


def test_a_batch_of_which_all_files_were_taken_away_has_dead_letters_alone(folder: Running) -> None:
    files = [(folder.folder / name).as_uri() for name in ("a.json", "b.json")]
    stream_id = folder.create(uri=folder.folder.as_uri(), onError="DEAD_LETTER")
    folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=files))
    assert delivered(folder) == [("letter", file) for file in files]


def test_a_file_whose_name_no_address_has_is_one_dead_letter_or_ends_the_stream(folder: Running) -> None:
    put(folder.folder, "a\\b.json", b'{"id": 1}')
    badly_named = f"{folder.folder.as_uri()}/a\\b.json"
    files = [badly_named, put(folder.folder, "c.json", b'{"id": 2}')]
    stream_id = folder.create(uri=folder.folder.as_uri())
    with pytest.raises(SourceInvalid, match="characters that an address cannot have"):
        folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=files))
    until(lambda: folder.record(stream_id).state is StreamState.FAILED)
    with_dead_letters = folder.create(uri=folder.folder.as_uri(), onError="DEAD_LETTER")
    folder.give(with_dead_letters, FakeMicroBatch(CHECKPOINT, 1, files=files))
    assert delivered(folder) == [("letter", badly_named), ("row", 2)]


def test_a_file_of_which_one_table_has_its_rows_must_be_there_for_the_others(folder: Running) -> None:
    files = [put(folder.folder, "a.json", *OF_BOTH)]
    others_refused_once(folder, (folder.folder / "a.json").unlink)
    stream_id = folder.create(uri=folder.folder.as_uri(), onError="DEAD_LETTER", others="2")
    with pytest.raises(SourceChanged, match=r"a\.json no longer exists"):
        folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=files))
    assert delivered(folder) == [("row", 1)]
    folder.resume(stream_id)
    put(folder.folder, "a.json", *OF_BOTH)
    folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=files))
    assert delivered(folder) == [("letter", f"{files[0]}, line 2"), ("row", 1), ("row", 2)]


def test_a_folder_that_is_gone_is_waited_for_and_its_files_are_no_dead_letters(folder: Running) -> None:
    inbox = folder.folder / "in"
    inbox.mkdir()
    stream_id = folder.create(uri=inbox.as_uri(), onError="DEAD_LETTER")
    until(lambda: stream_id in folder.queries.running)
    inbox.rmdir()
    with pytest.raises(StreamSourceDown, match="no folder"):
        folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=[(inbox / "a.json").as_uri()]))
    assert (delivered(folder), folder.record(stream_id).state) == ([], StreamState.RUNNING)


def test_a_file_that_cannot_be_read_ends_a_stream_without_dead_letters(folder: Running) -> None:
    files = with_unreadable(folder.folder)
    stream_id = folder.create(uri=folder.folder.as_uri())
    with pytest.raises(IngestInvalid, match="cannot be read as gzip"):
        folder.give(stream_id, FakeMicroBatch(CHECKPOINT, 0, files=files))
    until(lambda: folder.record(stream_id).state is StreamState.FAILED)
    assert folder.ids() == []


def test_an_engine_that_is_not_there_yet_is_waited_for(running: Running) -> None:
    running.queries.refuses = EngineNotReady()
    stream_id = running.create()
    until(lambda: stream_id in running.queries.running)
    assert running.queries.started == [stream_id, stream_id]
    assert running.record(stream_id).state is StreamState.RUNNING


def test_a_source_that_is_down_is_reported_until_it_answers(running: Running) -> None:
    stream_id = running.create()
    until(lambda: stream_id in running.queries.running)
    running.queries.are_read = False
    first = running.queries.running[stream_id]
    first.failed = StreamSourceDown("kafka:9092 does not answer.")
    until(lambda: running.record(stream_id).error_code == "STREAM_SOURCE_DOWN")
    until(lambda: running.queries.running[stream_id] is not first)
    reported = running.record(stream_id)
    assert (reported.state, reported.error_code) == (StreamState.RUNNING, "STREAM_SOURCE_DOWN")
    running.queries.running[stream_id].is_read = True
    until(lambda: running.record(stream_id).error_code is None)
    assert running.record(stream_id).state is StreamState.RUNNING


def test_a_stream_that_is_stopped_while_its_source_is_down_stays_so(running: Running) -> None:
    stream_id = running.create()
    until(lambda: stream_id in running.queries.running)
    running.queries.running[stream_id].failed = StreamSourceDown()
    until(lambda: running.record(stream_id).error_code)
    running.streams.stop(stream_id, "ann")
    running.store.move(stream_id, StreamState.RUNNING, StreamSourceDown())
    stopped = running.record(stream_id)
    assert (stopped.state, stopped.error_code) == (StreamState.STOPPED, None)


@pytest.mark.parametrize("failure", [TooManyIngests("full", retry_after_s=1), TableChanged()])
def test_what_passes_by_itself_does_not_end_a_stream(running: Running, failure: GatewayError) -> None:
    stream_id = running.create()
    until(lambda: stream_id in running.queries.running)
    first = running.queries.running[stream_id]
    first.failed = failure
    until(lambda: running.queries.running[stream_id] is not first)
    assert running.record(stream_id).state is StreamState.RUNNING


def test_what_may_not_be_read_any_more_is_not(running: Running, tmp_path: Path) -> None:
    made = StreamRecord(uuid4(), "ann", "", {"uri": tmp_path.parent.as_uri()}, SystemClock().now())
    running.store.add(made)
    until(lambda: running.record(made.stream_id).state is StreamState.FAILED)
    assert running.record(made.stream_id).error_code == "SOURCE_NOT_ALLOWED"
    assert not running.queries.started


def test_a_stream_that_spark_refuses_says_why(running: Running) -> None:
    running.queries.refuses = StreamInvalid("Spark has no Kafka connector here.")
    stream_id = running.create()
    until(lambda: running.record(stream_id).state is StreamState.FAILED)
    assert running.record(stream_id).error_detail == "Spark has no Kafka connector here."


def test_a_stopped_stream_ends_and_its_lease_is_let_go(running: Running) -> None:
    stream_id = running.create()
    until(lambda: stream_id in running.queries.running)
    assert running.streams.stop(stream_id, "ann").state is StreamState.STOPPED
    until(lambda: running.queries.running[stream_id].is_stopped)
    until(lambda: not running.store.leases)


def test_one_replica_runs_a_stream_and_another_takes_over(
    running: Running, ingests: FakeIngests, store: FakeStreamStore, tmp_path: Path
) -> None:
    stream_id = running.create()
    until(lambda: stream_id in running.queries.running)
    other = Running(ingests, store, tmp_path)
    try:
        running.streams.runner.close(WITHIN_S)
        until(lambda: stream_id in other.queries.running)
        assert running.queries.running[stream_id].is_stopped
    finally:
        other.streams.runner.close(WITHIN_S)


def levels(entries: list[MutableMapping[str, Any]]) -> set[str]:
    return {str(entry["log_level"]) for entry in entries}


def test_a_stop_while_a_batch_is_taken_in_is_no_warning_and_no_error_of_the_stream(running: Running) -> None:
    stream_id = running.create()
    until(lambda: stream_id in running.queries.running)
    first = running.queries.running[stream_id]
    with capture_logs() as entries:
        running.ingests.stop_taking()
        with pytest.raises(ShuttingDown):
            running.give(stream_id, batch(0, 1, checkpoint=CHECKPOINT))
        until(lambda: first.is_stopped)
        running.streams.runner.close(WITHIN_S)
    assert levels(entries) == {"info"}
    stopped = running.record(stream_id)
    assert (stopped.state, stopped.error_code) == (StreamState.RUNNING, None)


@pytest.mark.parametrize("failure", [ShuttingDown(), EngineLost(), MetricsStoreDown(), None])
def test_whatever_a_stop_takes_from_a_stream_is_no_warning(
    running: Running, failure: GatewayError | None
) -> None:
    stream_id = running.create()
    until(lambda: stream_id in running.queries.running)
    query = running.queries.running[stream_id]

    def stop() -> None:
        running.streams.runner.stop_taking()
        query.failed, query.is_stopped = failure, True

    with capture_logs() as entries:
        query.when_asked = stop
        until(lambda: query.is_stopped)
        running.streams.runner.close(WITHIN_S)
    assert levels(entries) == {"info"}
    stopped = running.record(stream_id)
    assert (stopped.state, stopped.error_code) == (StreamState.RUNNING, None)


def test_a_lease_that_was_lost_ends_the_query(running: Running) -> None:
    stream_id = running.create()
    until(lambda: stream_id in running.queries.running)
    first = running.queries.running[stream_id]
    running.store.leases.clear()
    until(lambda: first.is_stopped)
    until(lambda: running.queries.running[stream_id] is not first)


def test_what_cannot_be_run_is_refused_at_once(running: Running, tmp_path: Path) -> None:
    with pytest.raises(SourceNotAllowed):
        running.create(uri=tmp_path.parent.as_uri())
    with pytest.raises(StreamInvalid, match="no globs"):
        running.create(uri=f"{tmp_path.as_uri()}/*")
    with pytest.raises(TableNotFound):
        running.create(table="nothing")
    with pytest.raises(WriteSchemaInvalid, match="no identifier fields"):
        running.create(mode="upsert")
    with pytest.raises(StreamInvalid, match="cannot be inferred"):
        running.create(columns=InferredColumns.INFER)
    for _ in range(PACE.running_at_most):
        running.create()
    with pytest.raises(StreamInvalid, match="stream_max_running"):
        running.create()


def test_no_more_streams_are_resumed_than_may_run(running: Running) -> None:
    stopped = running.create()
    running.streams.stop(stopped, "ann")
    others = [running.create() for _ in range(PACE.running_at_most)]
    with pytest.raises(StreamInvalid, match="stream_max_running"):
        running.streams.resume(stopped, ANN, FULL_ACCESS)
    assert running.streams.find(stopped, "ann").state is StreamState.STOPPED
    # A stream that already runs keeps its place.
    assert running.streams.resume(others[0], ANN, FULL_ACCESS).state is StreamState.RUNNING
    running.streams.stop(others[0], "ann")
    assert running.streams.resume(stopped, ANN, FULL_ACCESS).state is StreamState.RUNNING


def test_a_stream_into_a_tag_is_refused_at_once(running: Running) -> None:
    running.ingests.tables.tag(TABLE.key.table, TABLE.key.branch)
    with pytest.raises(IngestInvalid, match="is a tag"):
        running.create()


def test_streams_of_others_are_not_found(running: Running) -> None:
    stream_id = running.create()
    with pytest.raises(StreamNotFound):
        running.streams.find(stream_id, "bob")
    with pytest.raises(StreamNotFound):
        running.streams.stop(stream_id, "bob")
