"""A query of a session: what the engine is asked, what is pruned, and what a statement changes."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from service.model.filters.filter_record import Reason
from service.model.query.query import QueryRequest, QueryState
from service.model.query.statement_text import is_command, query_text
from service.model.sessions.session_changes import NoteMadeView, PutSettings, UseSchema
from service.model.sessions.sessions import MadeView, SessionUse, SessionValues, SessionView
from service.query.execution.run_query import run_query
from service.query.execution.unpruned_in_session import unpruned_in_session
from tests.fakes.engine import engine_result
from tests.fakes.sessions import fake_sessions
from tests.unit.query.conftest import Bench

CALLER = "ann"
OWN = {"spark.sql.ansi.enabled": "true", "spark.sql.session.timeZone": "UTC"}


def used(**values: object) -> SessionUse:
    return SessionUse(uuid4(), replace(SessionValues(), **values))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, None),
        ({"spark.sql.ansi.enabled": "true"}, None),
        ({"spark.sql.ansi.enabled": "false"}, Reason.SESSION_SETTING),
        ({"spark.sql.session.timeZone": "utc"}, Reason.SESSION_SETTING),
        ({"spark.sql.session.timeZone": "Europe/Berlin"}, Reason.SESSION_SETTING),
        ({"spark.sql.shuffle.partitions": "3", "spark.sql.storeAssignmentPolicy": "LEGACY"}, None),
        ({"spark.sql.sources.partitionOverwriteMode": "DYNAMIC"}, None),
        ({"spark.sql.caseSensitive": "false"}, None),
    ],
    ids=str,
)
def test_only_settings_that_filters_depend_on_keep_a_query_from_being_pruned(
    settings: dict[str, str], reason: Reason | None
) -> None:
    assert unpruned_in_session("SELECT 1", used(settings=settings), OWN) is reason


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT * FROM top", Reason.SESSION_VIEW),
        ("SELECT * FROM `TOP` t", Reason.SESSION_VIEW),
        ("SELECT * FROM desktop", Reason.SESSION_VIEW),
        ("SELECT * FROM sales", None),
    ],
    ids=str,
)
def test_a_text_that_may_name_a_temporary_view_is_not_pruned(sql: str, reason: Reason | None) -> None:
    session = used(views=(SessionView("Top", "SELECT 1"),))
    assert unpruned_in_session(sql, session, OWN) is reason
    assert unpruned_in_session(sql, None, OWN) is None


def test_the_engine_gets_the_values_of_the_session(bench: Bench) -> None:
    session = used(settings={"spark.sql.ansi.enabled": "false"}, views=(SessionView("v", "SELECT 1"),))
    query = bench.of(QueryRequest("SELECT * FROM v", session=session))
    run_query(query, replace(bench.ports, own_settings=OWN))
    [statement] = bench.engine.runs
    assert statement.session == session.values
    assert query.record.state is QueryState.SUCCEEDED


def test_a_change_is_made_before_its_statement_has_ended(bench: Bench) -> None:
    sessions = fake_sessions()
    session_id = sessions.create(CALLER, None, None, {}).session_id
    bench.engine.outcomes.append(replace(engine_result(), change=UseSchema("lake", "shop")))
    query = bench.of(QueryRequest("USE lake.shop", session=sessions.values(session_id, CALLER)))
    run_query(query, replace(bench.ports, sessions=sessions))
    assert query.record.state is QueryState.SUCCEEDED
    values = sessions.use(session_id, CALLER).values
    assert (values.catalog, values.schema) == ("lake", "shop")


def test_a_change_that_a_session_may_not_have_fails_its_statement(bench: Bench) -> None:
    sessions = fake_sessions()
    session = sessions.values(sessions.create(CALLER, None, None, {}).session_id, CALLER)
    bench.engine.outcomes.append(replace(engine_result(), change=PutSettings({"spark.ui.enabled": "true"})))
    query = bench.of(QueryRequest("SET spark.ui.enabled = true", session=session))
    run_query(query, replace(bench.ports, sessions=sessions))
    assert query.record.error is not None
    assert query.record.error.code == "SESSION_SETTING_REFUSED"


def test_a_session_that_has_ended_fails_what_would_change_it(bench: Bench) -> None:
    bench.engine.outcomes.append(replace(engine_result(), change=UseSchema("lake", None)))
    query = bench.of(QueryRequest("USE lake", session=used()))
    run_query(query, replace(bench.ports, sessions=fake_sessions()))
    assert query.record.error is not None
    assert query.record.error.code == "SESSION_NOT_FOUND"


def test_a_write_that_its_session_cannot_note_has_succeeded_all_the_same(bench: Bench) -> None:
    sessions = fake_sessions()
    view = MadeView(("lake", "shop", "v"), "s")
    made = replace(engine_result(), change=NoteMadeView(view))
    gone, alive = used(), sessions.values(sessions.create(CALLER, None, None, {}).session_id, CALLER)
    for session in (gone, alive):
        bench.engine.outcomes.append(made)
        query = bench.of(QueryRequest("CREATE VIEW v AS SELECT 1", session=session))
        run_query(query, replace(bench.ports, sessions=sessions))
        assert query.record.state is QueryState.SUCCEEDED
    assert sessions.use(alive.session_id, CALLER).values.made == (view,)


def test_explain_asks_the_engine_for_the_plan_of_its_query(bench: Bench) -> None:
    query = bench.query("EXPLAIN FORMATTED SELECT 1")
    run_query(query, bench.ports)
    [statement] = bench.engine.runs
    assert (statement.sql, statement.explain) == ("SELECT 1", "FORMATTED")
    assert query.record.sql == "EXPLAIN FORMATTED SELECT 1"


def test_the_same_request_in_a_session_is_the_same_whatever_became_of_the_session() -> None:
    session = used()
    request = QueryRequest("SELECT 1", session=session)
    later = replace(request, session=replace(session, values=SessionValues("lake")))
    assert request.fingerprint() == later.fingerprint() != QueryRequest("SELECT 1").fingerprint()
    assert request.fingerprint() != replace(request, session=used()).fingerprint()


@pytest.mark.parametrize(
    ("sql", "inner", "mode"),
    [
        ("explain select 1", "select 1", "SIMPLE"),
        ("EXPLAIN\tEXTENDED\nSELECT 1", "SELECT 1", "EXTENDED"),
        ("/* a */ EXPLAIN /* b */ COST -- c\n SELECT 1", "SELECT 1", "COST"),
        ("EXPLAIN CODEGEN SELECT 1", "SELECT 1", "CODEGEN"),
        ("EXPLAIN WITH a AS (SELECT 1) SELECT * FROM a", "WITH a AS (SELECT 1) SELECT * FROM a", "SIMPLE"),
        ("SELECT 'EXPLAIN SELECT 1'", "SELECT 'EXPLAIN SELECT 1'", None),
        ("EXPLAINED", "EXPLAINED", None),
        ("FROM explain SELECT 1", "FROM explain SELECT 1", None),
    ],
)
def test_the_query_after_explain_is_found(sql: str, inner: str, mode: str | None) -> None:
    text = query_text(sql)
    assert (text.sql, text.explain) == (inner, mode)


def test_commands_are_known_by_their_first_word() -> None:
    assert all(
        map(is_command, ("SHOW TABLES", "-- x\nuse lake", "set a=b", "CREATE TEMPORARY VIEW v AS SELECT 1"))
    )
    assert not any(
        map(is_command, ("SELECT 1", "VALUES (1)", "(SELECT 1)", "WITH show AS (SELECT 1) SELECT 1", ""))
    )
