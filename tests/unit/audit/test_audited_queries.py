from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

from structlog.testing import capture_logs

from service import audited
from service.audit.audited_queries import AuditedJournal, LostQueries, query_event
from service.audit.audited_statements import MAX_CHARACTERS, without_text
from service.audited import AuditedRequest
from service.model.audit.bounded_names import MAX_COLUMNS, MAX_TABLES, with_names
from service.model.audit.events import Action, Details, Outcome
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import QueryError, QueryRequest, QueryState
from service.model.tables.tables import TableName
from service.model.writes.writes import Write, WriteKind, WriteRecord
from service.query.registry.query_handle import QueryHandle
from tests.fakes.audit import ORIGIN, FakeTrail
from tests.fakes.clock import FakeClock
from tests.fakes.journal import FakeJournal
from tests.fakes.metrics_store import FakeMetricsStore
from tests.fakes.query_records import full_record, short_record


def test_a_query_has_its_tables_columns_rows_and_times() -> None:
    record = replace(full_record(), state=QueryState.SUCCEEDED, error=None, origin=ORIGIN)
    event = query_event(record, without_text)
    assert (event.action, event.outcome, event.origin) == (Action.QUERY, Outcome.SUCCEEDED, ORIGIN)
    assert event.details.query_id == record.query_id
    assert set(event.details.tables) >= {scan.table for scan in record.scans}
    assert set(event.details.tables) >= {str(found.probe.table) for found in record.filters}
    assert set(event.details.tables) >= {found.table for found in record.rewrites if found.table}
    assert "" not in event.details.tables
    assert (event.details.row_count, event.details.byte_count) == (record.row_count, record.byte_count)
    assert event.duration_ms == record.queued_ms + record.planning_ms + record.running_ms
    assert event.details.statement is None


def test_a_write_has_its_table_its_new_name_and_its_reads() -> None:
    names = ("lake.shop.old", "lake.marts.new", "lake.shop.read")
    old, new = map(TableName.of, names[:2])
    ended = short_record()
    write = Write(WriteKind.RENAME, old, reads=names[2:], renamed_to=new)
    record = WriteRecord(ended.query_id, ended.caller, write, ended.submitted_at, ended.submitted_at)
    assert query_event(replace(ended, write=record), without_text).details.tables == names


def test_a_long_text_is_shortened_and_says_so() -> None:
    record = replace(short_record(), sql="x" * (MAX_CHARACTERS + 1))
    details = query_event(record, lambda sql: sql).details
    assert details.statement == "x" * MAX_CHARACTERS
    assert details.is_shortened


def test_refused_failed_and_canceled_queries_differ() -> None:
    outcomes = {}
    for code, state in (
        ("STATEMENT_NOT_ALLOWED", QueryState.FAILED),
        ("QUERY_TIMED_OUT", QueryState.FAILED),
        ("QUERY_CANCELED", QueryState.CANCELED),
    ):
        record = replace(short_record(), state=state, error=QueryError(code, "a value that is secret"))
        event = query_event(record, without_text)
        outcomes[event.error_code] = event.outcome
        assert event.details.row_count is None
        assert "secret" not in repr(event)
    assert outcomes == {
        "STATEMENT_NOT_ALLOWED": Outcome.REFUSED,
        "QUERY_TIMED_OUT": Outcome.FAILED,
        "QUERY_CANCELED": Outcome.FAILED,
    }


def test_a_journal_audits_each_record_in_the_place_of_its_request() -> None:
    trail, journal = FakeTrail(), FakeJournal()
    audited_journal = AuditedJournal(journal, trail, without_text)
    trail.reserve()
    asked, unasked = replace(short_record(), origin=ORIGIN), short_record()
    audited_journal.append(asked)
    audited_journal.append(unasked)
    assert trail.reserved == 0
    assert [event.details.query_id for event in trail.events] == [asked.query_id, unasked.query_id]
    assert trail.events[1].origin.principal == unasked.caller
    assert journal.records == [asked, unasked]
    assert audited_journal.find(asked.query_id) == asked
    audited_journal.close()
    assert journal.is_closed


def test_a_query_keeps_the_origin_of_its_request() -> None:
    now = FakeClock().now()
    with audited.serving(AuditedRequest(ORIGIN)):
        asked = QueryHandle(uuid4(), QueryRequest("SELECT 1"), "ada", FULL_ACCESS, now, 0)
    unasked = QueryHandle(uuid4(), QueryRequest("SELECT 1"), "ada", FULL_ACCESS, now, 0)
    assert (asked.record.origin, unasked.record.origin) == (ORIGIN, None)


def test_queries_of_lost_replicas_are_audited_or_named() -> None:
    store, trail = FakeMetricsStore(), FakeTrail()
    record = short_record()
    store.record([record])
    missing = uuid4()
    with capture_logs() as lines:
        LostQueries(store, trail, without_text).audit([record.query_id, missing])
    assert [event.details.query_id for event in trail.events] == [record.query_id]
    assert [line["query_id"] for line in lines] == [str(missing)]


def test_names_are_bounded_and_a_lack_is_noted() -> None:
    many = with_names(Details(), [f"t{number}" for number in range(MAX_TABLES + 1)], {})
    assert (len(many.tables), many.is_shortened) == (MAX_TABLES, True)
    wide = {"a": [f"c{number}" for number in range(MAX_COLUMNS)], "b": ["x"]}
    assert with_names(Details(), (), wide | {"b": []}).is_shortened is False
    shortened = with_names(Details(), (), wide)
    assert (len(shortened.columns["a"]), "b" in shortened.columns) == (MAX_COLUMNS, False)
    assert (shortened.tables, shortened.is_shortened) == (("a", "b"), True)
