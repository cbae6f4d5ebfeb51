"""Queries over temporary views are pruned by the texts of these, where the engine reads both alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import UUID

import pytest

from service.errors.unavailable import EngineLost
from service.model.filters.filter_record import Reason
from service.model.query.query import PruningRequest, QueryRequest, QueryState
from service.model.query.rewrites import RewriteKind
from service.model.sessions.sessions import SessionUse, SessionValues, SessionView
from service.ports.bounded_calls import BoundedCalls
from service.ports.engine.query_engine import Statement
from service.query.execution.run_query import pruned_query, run_query
from service.query.execution.session_view_texts import SessionViewTexts
from service.query.filtering.detection.in_process import InProcess
from service.query.filtering.pruned_query import PrunedQuery
from service.query.registry.query_handle import QueryHandle
from tests.fakes.reuse import FakeFactReader, FakeViewStates
from tests.unit.query.execution.test_pruned_run import KEYS, PrunedRun
from tests.unit.query.refresh.test_refresher import NoTime

YEAR = SessionView("year_2000", "SELECT day_key FROM calendar WHERE year = 2000", "lake", "shop")
LONG = SessionView("long", f"SELECT {', '.join(map(str, range(100)))}", "lake", "shop")
"""With it, the texts are too long to be read in this process."""
SESSION = SessionUse(UUID(int=1), SessionValues("lake", "shop", views=(YEAR, LONG)))
SQL = "SELECT f.note FROM sales AS f JOIN year_2000 AS d ON f.day_key = d.day_key"
EXPANDED = SQL.replace("year_2000", "(\nSELECT day_key FROM `lake`.`shop`.calendar WHERE year = 2000\n)")


class Views(PrunedRun):
    """Asks over a temporary view; `facts` decides whether the engine reads both texts alike."""

    def __init__(self) -> None:
        super().__init__()
        self.facts = FakeFactReader(FakeViewStates())
        self.facts.alike.add((SQL, EXPANDED))
        self.calls: BoundedCalls = InProcess()

    def asked(self, pruning: PruningRequest | None = None) -> tuple[QueryHandle, PrunedQuery]:
        """Runs the query, and returns it with what it was pruned to."""
        request = QueryRequest(SQL, catalog="lake", schema="shop", session=SESSION)
        query = self.bench.of(replace(request, pruning=pruning or PruningRequest()))
        texts = SessionViewTexts(self.facts, self.calls, frozenset({"lake"}))
        ports = replace(self.bench.ports, pruner=self.pruner, session_views=texts)
        pruned = pruned_query(query, ports)
        run_query(query, ports)
        assert query.record.state is QueryState.SUCCEEDED
        return query, pruned


def test_the_tables_behind_a_temporary_view_are_pruned() -> None:
    views = Views()
    query, pruned = views.asked()
    [run] = views.engine.runs
    assert "IN (3, 9, NULL)" in run.sql
    assert "FROM `lake`.`shop`.calendar" in run.sql
    assert run.session == replace(SESSION.values, views=())
    assert views.reasons(query) == [Reason.APPLIED]
    [expansion] = query.record.rewrites
    assert (expansion.kind, expansion.table) == (RewriteKind.VIEW_EXPANDED, "year_2000")
    assert expansion.detail == "reads calendar"
    assert pruned.expanded_sql == EXPANDED


def _differs(views: Views) -> None:
    views.facts.alike.clear()


def _fails(views: Views) -> None:
    def lost(statement: Statement, sql: str) -> bool:
        raise EngineLost(f"{statement.sql} or {sql}")

    views.facts.is_read_alike = lost  # type: ignore[method-assign]


def _takes_too_long(views: Views) -> None:
    views.calls = NoTime()


@pytest.mark.parametrize("change", [_differs, _fails, _takes_too_long])
def test_otherwise_the_query_runs_as_it_is_written(change: Callable[[Views], None]) -> None:
    views = Views()
    change(views)
    _, pruned = views.asked()
    assert [run.sql for run in views.engine.runs] == [SQL]
    assert (pruned.sql, pruned.otherwise) == (SQL, Reason.SESSION_VIEW)


def test_a_caller_may_decline() -> None:
    views = Views()
    _, pruned = views.asked(PruningRequest(rewrites=frozenset()))
    assert [run.sql for run in views.engine.runs] == [SQL]
    assert pruned.otherwise is Reason.SESSION_VIEW


def test_without_a_filter_the_query_runs_as_it_is_written() -> None:
    views = Views()
    views.reader.forget(KEYS)
    query, pruned = views.asked(PruningRequest(min_table_bytes=1 << 60))
    assert views.engine.runs[-1].sql == SQL
    assert (pruned.sql, query.record.rewrites) == (SQL, ())


def test_the_engine_is_not_asked_where_nothing_may_be_pruned() -> None:
    views = Views()
    _fails(views)
    _, pruned = views.asked(PruningRequest(is_enabled=False))
    assert [run.sql for run in views.engine.runs] == [SQL]
    assert pruned.otherwise is Reason.DISABLED
