"""Tests how statements of SQL protocols run in the gateway."""

from __future__ import annotations

from uuid import uuid4

import pytest

from api.bootstrap.settings import Settings
from api.sql_protocols.statement_runs import StatementRequest
from service.errors.query_errors import QueryNotFound, ResultTooLarge
from service.errors.session_errors import SessionNotFound
from service.errors.statement_errors import SqlSyntaxError
from service.model.audit.events import Action
from service.model.query.query import QueryState
from tests.fakes.queries import ROWS
from tests.unit.api.sql_protocols.conftest import KIM, LOU, Parts, parts_of


def test_a_statement_asks_for_the_operators_maximum(parts: Parts) -> None:
    operation_id = uuid4()
    request = StatementRequest(sql="SELECT 1", timeout_s=7, operation_id=operation_id)
    running = parts.statements.start(KIM, request)
    asked = parts.gateway.queries.by_id[running.query_id].request
    assert (asked.row_limit, asked.byte_limit) == (
        parts.settings.max_row_limit,
        parts.settings.max_byte_limit,
    )
    assert (asked.timeout_ms, asked.request_id) == (7_000, operation_id)
    assert running.operation_id == operation_id
    assert (asked.catalog, asked.schema) == ("lake", "tpcds")


@pytest.mark.parametrize(("timeout_s", "timeout_ms"), [(0, 300_000), (-1, 300_000), (99_999, 3_600_000)])
def test_a_timeout_has_the_operators_bounds(parts: Parts, timeout_s: float, timeout_ms: int) -> None:
    running = parts.statements.start(KIM, StatementRequest(sql="SELECT 1", timeout_s=timeout_s))
    assert parts.gateway.queries.by_id[running.query_id].request.timeout_ms == timeout_ms


def test_chunks_come_as_they_lie(parts: Parts) -> None:
    running = parts.statements.start(KIM, StatementRequest(sql="SELECT 1"))
    assert running.wait()
    assert [chunk.num_rows for chunk in running.chunks()] == [2, 1]
    assert running.schema() == ROWS.schema


def test_a_result_that_was_cut_is_an_error(parts: Parts) -> None:
    parts.gateway.queries.is_truncated = True
    running = parts.statements.start(KIM, StatementRequest(sql="SELECT 1"))
    status = running.status()
    assert (status.state, status.is_final) == (QueryState.FAILED, True)
    assert status.failure is not None
    assert (status.failure.code, status.failure.sql_state) == ("RESULT_TOO_LARGE", "54000")
    with pytest.raises(ResultTooLarge):
        list(running.chunks())


@pytest.mark.parametrize("is_in_memory", [True, False])
def test_a_failed_statement_has_a_code_and_a_state(parts: Parts, is_in_memory: bool) -> None:
    parts.gateway.queries.has_failures_in_memory = is_in_memory
    parts.gateway.queries.failures["SELEC"] = SqlSyntaxError("It ends too early.")
    status = parts.statements.start(KIM, StatementRequest(sql="SELEC")).status()
    assert status.failure is not None
    assert (status.failure.code, status.failure.sql_state) == ("SQL_SYNTAX", "42601")
    assert status.failure.text == "SQL_SYNTAX: It ends too early."


def test_a_statement_is_canceled(parts: Parts) -> None:
    parts.gateway.queries.unfinished.add("SELECT 1")
    running = parts.statements.start(KIM, StatementRequest(sql="SELECT 1"))
    assert not running.wait(0.01)
    running.cancel()
    assert running.status().state is QueryState.CANCELED


def test_another_caller_has_no_such_statement(parts: Parts) -> None:
    running = parts.statements.start(KIM, StatementRequest(sql="SELECT 1"))
    with pytest.raises(QueryNotFound):
        parts.gateway.queries.status(running.query_id, LOU.name)


def test_a_statement_has_the_values_of_its_session_and_only_its_callers(parts: Parts) -> None:
    session = parts.sessions.open(KIM, settings={"spark.sql.ansi.enabled": "false"})
    request = StatementRequest(sql="SELECT 1", session_id=session.session_id)
    running = parts.statements.start(KIM, request)
    asked = parts.gateway.queries.by_id[running.query_id].request
    assert asked.session is not None
    assert asked.session.values.settings == {"spark.sql.ansi.enabled": "false"}
    with pytest.raises(SessionNotFound):
        parts.statements.start(LOU, request)


def test_the_comment_of_dbt_becomes_tags(parts: Parts) -> None:
    sql = '/* {"app": "dbt", "node_id": "model.shop.sales"} */ select 1'
    running = parts.statements.start(KIM, StatementRequest(sql=sql))
    tags = parts.gateway.queries.by_id[running.query_id].request.tags
    assert tags == {"app": "dbt", "node_id": "model.shop.sales"}


def test_a_statement_is_described_and_not_run(parts: Parts) -> None:
    described = parts.statements.describe(KIM, StatementRequest(sql="SELECT d_moy FROM date_dim"))
    assert [column.name for column in described.columns] == ["d_moy"]
    assert not parts.gateway.queries.by_id


def test_refused_statements_are_audited_with_their_caller() -> None:
    parts = parts_of(Settings(audit=True))
    parts.gateway.queries.refusal = SqlSyntaxError("no")
    with pytest.raises(SqlSyntaxError):
        parts.statements.start(KIM, StatementRequest(sql="SELEC"))
    (event,) = parts.gateway.trail.events
    assert (event.action, event.error_code, event.origin.principal) == (Action.QUERY, "SQL_SYNTAX", "kim")
    assert event.details.fingerprint is not None
