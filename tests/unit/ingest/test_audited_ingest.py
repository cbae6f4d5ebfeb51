"""Tests what the audit of an ingest says, with and without a request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from service import audited
from service.audited import AuditedRequest
from service.errors.policy_errors import AuditLogFull
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import StorageDown
from service.model.audit.events import Action, Outcome
from service.model.ingest.ingest_request import ColumnNames, IngestRequest, Write
from service.model.ingest.writing import TableKey
from service.model.policies.decisions import FULL_ACCESS
from service.model.tables.tables import TableName
from tests.fakes.audit import ORIGIN, FakeTrail
from tests.fakes.ingest_service import FakeIngests
from tests.unit.ingest.wide_table import TABLE

WITHIN_S = 20
REQUEST = IngestRequest((Write(TABLE.key, [{"id": 1}, {"id": 2}], ColumnNames(("id", "day"))),), "f")
NOWHERE = replace(REQUEST.writes[0], key=TableKey(TableName("lake", "logs", "nowhere")))


@pytest.fixture
def trail() -> FakeTrail:
    return FakeTrail()


@pytest.fixture
def ingests(trail: FakeTrail) -> Iterator[FakeIngests]:
    made = FakeIngests(TABLE, trail=trail)
    yield made
    made.close(WITHIN_S)


def test_a_request_learns_the_tables_columns_rows_and_the_id(ingests: FakeIngests, trail: FakeTrail) -> None:
    with audited.serving(AuditedRequest(ORIGIN)) as request:
        record = ingests.accept(REQUEST, "ada", FULL_ACCESS).record
    assert request.details.ingest_id == record.ingest_id
    assert request.details.tables == ("lake.logs.events",)
    assert request.details.columns == {"lake.logs.events": ("id", "day")}
    assert request.details.row_count == 2
    assert not request.is_handed_over
    assert trail.events == []


def test_a_refused_request_still_names_its_tables(ingests: FakeIngests) -> None:
    with audited.serving(AuditedRequest(ORIGIN)) as request, pytest.raises(TableNotFound):
        ingests.accept(replace(REQUEST, writes=(NOWHERE,)), "ada", FULL_ACCESS)
    assert request.details.tables == ("lake.logs.nowhere",)
    assert request.details.ingest_id is None


def test_an_ingest_of_a_stream_has_an_event_of_its_own(ingests: FakeIngests, trail: FakeTrail) -> None:
    record = ingests.accept(REQUEST, "ada", FULL_ACCESS).record
    [event] = trail.events
    assert (event.action, event.outcome, event.error_code) == (Action.INGEST, Outcome.ALLOWED, None)
    assert (event.origin.principal, event.origin.kind, event.origin.address) == ("ada", "stream", None)
    assert event.details.ingest_id == record.ingest_id
    assert event.details.columns == {"lake.logs.events": ("id", "day")}
    assert trail.reserved == 0
    assert audited.current() is None


def test_so_has_one_that_is_refused_or_fails(ingests: FakeIngests, trail: FakeTrail) -> None:
    with pytest.raises(TableNotFound):
        ingests.accept(replace(REQUEST, writes=(NOWHERE,)), "ada", FULL_ACCESS)
    ingests.files.is_down = True
    with pytest.raises(StorageDown):
        ingests.accept(REQUEST, "ada", FULL_ACCESS)
    assert [(event.outcome, event.error_code) for event in trail.events] == [
        (Outcome.REFUSED, "TABLE_NOT_FOUND"),
        (Outcome.FAILED, "STORAGE_DOWN"),
    ]


def test_a_stream_writes_nothing_that_cannot_be_audited(ingests: FakeIngests, trail: FakeTrail) -> None:
    trail.is_full = True
    with pytest.raises(AuditLogFull):
        ingests.accept(REQUEST, "ada", FULL_ACCESS)
    assert not ingests.files.files
    assert trail.events == []
