"""The committer's threads: accepted ingests are committed once, whichever replica accepted them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from datetime import timedelta

import pytest

from service.adapters.clock import SystemClock
from service.errors.ingest_errors import CommittableUnreadable, UpsertNotPossible, WrittenFileMissing
from service.errors.table_errors import TableChanged
from service.errors.unavailable import CatalogDown
from service.ingest.committing.commit_pace import CommitPace
from service.ingest.committing.commit_round import commit_round
from service.ingest.committing.committer import Committer
from service.model.ingest.ingest import IngestRecord, IngestState
from service.model.ingest.writing import Committable, WriteResult
from service.ports.stores.ingest_log import IngestLog
from service.ports.tables.table_changes import TableCommits
from service.ports.telemetry.ingest_metrics import IngestMetrics
from tests.fakes.ingest_log import FakeIngestLog
from tests.fakes.ingest_metrics import FakeIngestMetrics
from tests.fakes.ingests import LOGS, ORDERS, ingest_of, write_result
from tests.fakes.table_commits import FakeTableCommits
from tests.polling import until

WITHIN_S = 20
# Failures and other replicas are checked again at once, so that no test waits.
PACE = CommitPace(
    interval_ms=60_000, look_around_ms=60_000, contended_pause_ms=1, first_pause_ms=1, longest_pause_ms=1
)
LOOKING = CommitPace(look_around_ms=1, contended_pause_ms=1, first_pause_ms=1, longest_pause_ms=1)

Start = Callable[..., Committer]


class Gate:
    """A hook at which the committer stops until the test releases it."""

    def __init__(self) -> None:
        self.reached = threading.Semaphore(0)
        self.let_go = threading.Semaphore(0)

    def __call__(self, _: object) -> None:
        self.reached.release()
        assert self.let_go.acquire(timeout=WITHIN_S)


@pytest.fixture
def log() -> FakeIngestLog:
    return FakeIngestLog()


@pytest.fixture
def commits() -> FakeTableCommits:
    return FakeTableCommits()


@pytest.fixture
def start() -> Iterator[Start]:
    with ExitStack() as stack:

        def started(
            log: IngestLog,
            commits: TableCommits,
            pace: CommitPace = PACE,
            metrics: IngestMetrics | None = None,
        ) -> Committer:
            committer = Committer(log, commits, SystemClock(), pace, metrics)
            stack.callback(committer.close, WITHIN_S)
            return committer

        yield started


def accept(log: IngestLog, results: Sequence[WriteResult]) -> IngestRecord:
    return log.accept(ingest_of(results), results)


def wait(*futures: Future[None]) -> None:
    for future in futures:
        future.result(WITHIN_S)


def state(log: IngestLog, record: IngestRecord) -> IngestState:
    found = log.find(record.ingest_id)
    assert found is not None
    return found.state


def test_an_accepted_ingest_is_committed_and_whoever_waits_is_notified(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    committer = start(log, commits)
    record = accept(log, [write_result()])
    wait(committer.follow(record))
    assert state(log, record) is IngestState.COMMITTED


def test_an_ingest_of_several_tables_is_waited_for_until_the_last_is_committed(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    committer = start(log, commits)
    record = accept(log, [write_result(LOGS), write_result(ORDERS)])
    wait(committer.follow(record))
    assert state(log, record) is IngestState.COMMITTED
    assert {round_.key for round_ in commits.rounds} == {LOGS, ORDERS}


def test_what_arrives_while_a_round_is_committed_is_the_next_round(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    gate = commits.before_commit = Gate()
    committer = start(log, commits)
    futures = [committer.follow(accept(log, [write_result()]))]
    assert gate.reached.acquire(timeout=WITHIN_S)
    futures += [committer.follow(accept(log, [write_result()])) for _ in range(20)]
    gate.let_go.release(2)
    wait(*futures)
    assert [len(round_.ingest_ids) for round_ in commits.rounds] == [1, 20]


def test_a_round_waits_for_ingests_that_are_being_written(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    committer = start(log, commits)
    with committer.expecting([LOGS]):
        with committer.expecting([LOGS]):
            futures = [committer.follow(accept(log, [write_result()]))]
        futures.append(committer.follow(accept(log, [write_result()])))
    wait(*futures)
    assert [len(round_.ingest_ids) for round_ in commits.rounds] == [2]


def test_tables_are_committed_side_by_side(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    both = threading.Barrier(2, timeout=WITHIN_S)

    def meet(_: Committable) -> None:
        both.wait()

    commits.before_commit = meet
    committer = start(log, commits)
    wait(committer.follow(accept(log, [write_result(LOGS), write_result(ORDERS)])))


def test_a_start_commits_what_a_crash_has_left(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    record = accept(log, [write_result()])
    done = threading.Event()
    commits.after_commit = lambda _: done.set()
    committer = start(log, commits)
    assert done.wait(WITHIN_S)
    wait(committer.follow(record))
    assert state(log, record) is IngestState.COMMITTED


def test_what_waits_in_the_log_counts_whoever_accepted_it(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    log.taken_elsewhere.add(LOGS)
    for _ in range(3):
        accept(log, [write_result()])
    committer = start(log, commits, LOOKING)
    until(lambda: committer.waiting_count == 3)
    assert committer.backlog().ingest_count == 0
    log.taken_elsewhere.clear()
    until(lambda: committer.waiting_count == 0)


def test_what_is_committed_here_waits_no_more_before_the_log_is_looked_at_again(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    records = [accept(log, [write_result()]) for _ in range(3)]
    log.taken_elsewhere.add(LOGS)
    committer = start(log, commits)
    until(lambda: committer.waiting_count == 3)
    log.taken_elsewhere.clear()
    wait(*(committer.follow(record) for record in records))
    assert committer.waiting_count == 0


def test_what_another_replica_accepts_is_committed_too(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    done = threading.Event()
    commits.after_commit = lambda _: done.set()
    start(log, commits, LOOKING)
    accept(log, [write_result()])
    assert done.wait(WITHIN_S)


def test_what_another_replica_commits_is_announced_to_whoever_waits_here(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    log.taken_elsewhere.add(LOGS)
    asked = threading.Semaphore(0)
    log.before_round = lambda _: asked.release()
    committer = start(log, commits)
    record = accept(log, [write_result()])
    future = committer.follow(record)
    for _ in range(2):
        assert asked.acquire(timeout=WITHIN_S)
    assert not future.done()
    log.taken_elsewhere.clear()
    wait(future)
    assert state(log, record) is IngestState.COMMITTED


def test_two_committers_on_one_log_commit_everything_once(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    committers = [start(log, commits) for _ in range(2)]
    results = [write_result(key) for key in [LOGS, ORDERS] * 50]
    wait(*(committers[n % 2].follow(accept(log, [result])) for n, result in enumerate(results)))
    for key in (LOGS, ORDERS):
        files = [file for result in results if result.target.key == key for file in result.data_files]
        assert sorted(commits.files(key)) == sorted(files)


def test_a_catalog_that_is_down_for_a_while_loses_nothing_and_changes_no_order(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    commits.failures = [CatalogDown() for _ in range(5)]
    committer = start(log, commits)
    results = [write_result(is_upsert=True) for _ in range(4)]
    wait(*(committer.follow(accept(log, [result])) for result in results))
    assert commits.files(LOGS) == [file for result in results for file in result.data_files]


def test_a_log_that_is_down_for_a_while_loses_nothing(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    record = accept(log, [write_result()])
    log.is_down = True
    asked = threading.Semaphore(0)
    log.before_round = lambda _: asked.release()
    committer = start(log, commits)
    future = committer.follow(record)
    for _ in range(3):
        assert asked.acquire(timeout=WITHIN_S)
    log.is_down = False
    wait(future)
    assert len(commits.rounds) == 1


def test_a_fault_in_a_commit_ends_no_thread(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    commits.failures = [RuntimeError("a fault") for _ in range(10)]
    committer = start(log, commits)
    wait(committer.follow(accept(log, [write_result()])))


def test_a_refused_ingest_is_announced_to_whoever_waits(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    commits.failures = [TableChanged("other spec")]
    committer = start(log, commits)
    record = accept(log, [write_result()])
    wait(committer.follow(record))
    assert state(log, record) is IngestState.FAILED
    assert commits.rounds == []


@pytest.mark.parametrize("others", [1, 70])
def test_an_ingest_that_is_refused_out_of_a_round_is_reported_while_the_rest_is_postponed(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start, others: int
) -> None:
    poison = write_result()
    is_down = threading.Event()
    is_down.set()

    def refuse(committable: Committable) -> None:
        if poison in committable.write_results:
            raise CommittableUnreadable(data_files=poison.data_files)
        if is_down.is_set():
            raise CatalogDown

    commits.before_commit = refuse
    committer = start(log, commits)
    with committer.expecting([LOGS]):
        postponed = [committer.follow(accept(log, [write_result()])) for _ in range(others)]
        record = accept(log, [poison])
        refused = committer.follow(record)
    wait(refused)
    assert state(log, record) is IngestState.FAILED
    # The failed ingest does not count against others, which may have to wait for room.
    assert committer.backlog().ingest_count == others
    assert not any(future.done() for future in postponed)
    is_down.clear()
    wait(*postponed)


@pytest.mark.parametrize("failures", [0, 2])
def test_an_ingest_that_is_refused_out_of_a_round_is_counted_also_where_the_round_fails_at_first(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start, failures: int
) -> None:
    all_results = [[write_result()] for _ in range(3)]
    records = [accept(log, results) for results in all_results]
    commits.failures = [CommittableUnreadable(data_files=all_results[1][0].data_files)]
    commits.failures += [CatalogDown() for _ in range(failures)]
    metrics = FakeIngestMetrics()
    committer = start(log, commits, PACE, metrics)
    wait(*(committer.follow(record) for record in records))
    committer.close(WITHIN_S)
    assert metrics.failed_count == 1
    assert [(len(committable.ingest_ids), code) for committable, code in metrics.rounds] == [(2, None)]


@pytest.mark.parametrize("kind", [CommittableUnreadable, WrittenFileMissing, UpsertNotPossible])
@pytest.mark.parametrize("is_named", [True, False])
def test_what_is_said_of_files_refuses_the_ingest_that_has_them_and_else_all(
    log: FakeIngestLog,
    commits: FakeTableCommits,
    kind: type[CommittableUnreadable | UpsertNotPossible],
    is_named: bool,
) -> None:
    all_results = [[write_result(is_upsert=number > 0)] for number in range(3)]
    records = [accept(log, results) for results in all_results]
    commits.failures = [kind(data_files=all_results[1][0].data_files if is_named else ())]
    ended = commit_round(LOGS, log, commits, 100)
    assert ended is not None
    expected = [None, kind.code, None] if is_named else [kind.code] * 3
    found = [log.find(record.ingest_id) for record in records]
    assert [record and record.commits[0].error_code for record in found] == expected
    assert len(commits.rounds) == int(is_named)


def test_all_ingests_of_a_refused_round_are_counted(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    records = [accept(log, [write_result()]) for _ in range(3)]
    commits.failures = [TableChanged("other spec")]
    metrics = FakeIngestMetrics()
    committer = start(log, commits, PACE, metrics)
    wait(*(committer.follow(record) for record in records))
    committer.close(WITHIN_S)
    assert (metrics.failed_count, [code for _, code in metrics.rounds]) == (3, ["TABLE_CHANGED"])


def test_an_ingest_that_is_committed_already_is_not_waited_for(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    committer = start(log, commits)
    record = accept(log, [write_result()])
    wait(committer.follow(record))
    found = log.find(record.ingest_id)
    assert found is not None
    assert committer.follow(found).done()


def test_an_ingest_that_was_committed_before_anybody_waited_is_reported_at_once(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    committer = start(log, commits)
    record = accept(log, [write_result()])
    wait(committer.follow(record))
    # This is the earlier record, which still says that the ingest waits.
    wait(committer.follow(record))


def test_closing_lets_whoever_waits_go_and_leaves_the_rest_for_the_next_start(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    log.taken_elsewhere.add(LOGS)
    committer = start(log, commits)
    record = accept(log, [write_result()])
    future = committer.follow(record)
    committer.close(WITHIN_S)
    wait(future)
    assert state(log, record) is IngestState.ACCEPTED
    log.taken_elsewhere.clear()
    wait(start(log, commits).follow(record))
    assert state(log, record) is IngestState.COMMITTED


def test_nobody_waits_for_a_committer_that_is_closed(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    committer = start(log, commits)
    committer.close(WITHIN_S)
    wait(committer.follow(accept(log, [write_result()])))
    assert commits.rounds == []


def test_the_round_that_runs_is_ended_before_the_committer_is_closed(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    gate = commits.before_commit = Gate()
    committer = start(log, commits)
    record = accept(log, [write_result()])
    committer.follow(record)
    assert gate.reached.acquire(timeout=WITHIN_S)
    closing = threading.Thread(target=committer.close, args=(WITHIN_S,))
    closing.start()
    gate.let_go.release()
    closing.join(WITHIN_S)
    assert state(log, record) is IngestState.COMMITTED


def test_how_long_an_ingest_waited_is_counted_once_it_is_in_its_table(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    metrics = FakeIngestMetrics()
    committer = start(log, commits, metrics=metrics)
    wait(committer.follow(accept(log, [write_result()])))
    assert len(metrics.lags_ms) == 1
    assert metrics.lags_ms[0] >= 0


def test_a_round_that_is_postponed_is_counted_by_what_was_in_its_way(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    metrics = FakeIngestMetrics()
    commits.failures = [CatalogDown("The catalog lake does not answer.")]
    committer = start(log, commits, metrics=metrics)
    wait(committer.follow(accept(log, [write_result()])))
    assert metrics.postponed == ["CATALOG_DOWN"]


def test_the_age_of_the_oldest_that_waits_is_known_whoever_accepted_it(
    log: FakeIngestLog, commits: FakeTableCommits, start: Start
) -> None:
    gate = commits.before_commit = Gate()
    record = accept(log, [write_result()])
    committer = start(log, commits, LOOKING)
    assert gate.reached.acquire(timeout=WITHIN_S)
    expected_ms = (SystemClock().now() - record.accepted_at) / timedelta(milliseconds=1)
    until(lambda: committer.backlog().oldest_ms >= max(expected_ms, 1))
    gate.let_go.release()
    until(lambda: committer.backlog().oldest_ms == 0)
