"""Queries over temporary views of a session read the files that queries on the tables beneath would read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

import pytest

from service.gateway import Gateway
from service.model.filters.filter_record import Reason
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.query import PruningRequest, QueryRecord, QueryRequest, QueryState
from service.model.query.rewrites import RewriteKind
from service.model.query.scan_metrics import Selection
from service.model.sessions.sessions import SessionUse, SessionValues, SessionView
from tests.equivalence.harness import Harness
from tests.equivalence.lakehouse import SCHEMA

PATIENCE_S = 120
PLAIN = PruningRequest(is_enabled=False)
PRUNED = PruningRequest()
VIEWS = {
    "lines": "SELECT id, k FROM by_k WHERE id >= 0 -- all of them",
    "swapped": "SELECT k AS id, id AS k FROM by_k",
    "keys": "SELECT r.k AS number FROM lines r",
    "y99": "SELECT * FROM dim WHERE year = 1999",
    "with_cte": "WITH d AS (SELECT k, year FROM dim) SELECT k FROM d WHERE year = 1999",
    "dim": "SELECT * FROM dim WHERE year = 1999",
    "of_dim": "SELECT k FROM dim WHERE k > 0",
    "chance": "SELECT k, rand() AS r FROM by_k",
    "in_order": "SELECT id, k FROM sorted_by_k",
    "all_of_k": "SELECT k FROM lake.shop.by_k",
}


@dataclass(frozen=True, slots=True)
class Ran:
    record: QueryRecord
    rows: Counter[tuple[object, ...]]

    def files(self, table: str) -> Selection:
        """The files of a table that were read."""
        found = [scan.metrics.data_files for scan in self.record.scans if scan.table.endswith(f".{table}")]
        return Selection(sum(files.total for files in found), sum(files.selected for files in found))

    @property
    def expanded(self) -> set[str]:
        rewrites = self.record.rewrites
        return {rewrite.table for rewrite in rewrites if rewrite.kind is RewriteKind.VIEW_EXPANDED}

    @property
    def reasons(self) -> set[Reason]:
        return {found.reason for found in self.record.filters}


@dataclass(frozen=True, slots=True)
class InSession:
    """Asks in a session with these views."""

    gateway: Gateway
    session: SessionUse

    def ask(self, sql: str, pruning: PruningRequest) -> Ran:
        request = QueryRequest(sql, (), "lake", SCHEMA, session=self.session, pruning=pruning)
        queries = self.gateway.queries
        query_id = queries.submit(request, "ann", FULL_ACCESS).query_id
        queries.finished(query_id).result(PATIENCE_S)
        status = queries.status(query_id, "ann")
        assert status.record.state is QueryState.SUCCEEDED, status.record.error
        assert status.manifest is not None
        rows: Counter[tuple[object, ...]] = Counter()
        for number in range(len(status.manifest.chunks)):
            table = queries.results.chunk(query_id, number, "ann").rows
            rows += Counter(zip(*(column.to_pylist() for column in table.columns), strict=True))
        return Ran(status.record, rows)


@pytest.fixture(scope="module")
def in_session(gateway: Gateway, harness: Harness) -> InSession:  # noqa: ARG001
    views = tuple(SessionView(name, sql, "lake", SCHEMA) for name, sql in VIEWS.items())
    return InSession(gateway, SessionUse(uuid4(), SessionValues("lake", SCHEMA, views=views)))


@pytest.mark.parametrize(
    ("sql", "views"),
    [
        ("SELECT r.id FROM lines r JOIN lake.shop.dim d ON r.k = d.k WHERE d.year = 1999", ["lines"]),
        ("SELECT n.* FROM Swapped n JOIN y99 ON n.id = y99.k", ["swapped", "y99"]),
        ("SELECT o.number FROM keys AS o, with_cte WHERE o.number = with_cte.k", ["keys", "with_cte"]),
        # A view with the name of a table hides it, also from the views that were made later.
        ("SELECT f.id FROM by_k f JOIN dim ON f.k = dim.k", ["dim"]),
        ("SELECT f.id FROM by_k f JOIN of_dim ON f.k = of_dim.k", ["of_dim"]),
        (
            "WITH y AS (SELECT k FROM y99) SELECT count(*) FROM all_of_k a JOIN y ON a.k = y.k",
            ["all_of_k", "y99"],
        ),
        ("SELECT id FROM lines WHERE k IN (SELECT k FROM y99)", ["lines", "y99"]),
    ],
)
def test_the_tables_behind_temporary_views_are_pruned(
    in_session: InSession, sql: str, views: Sequence[str]
) -> None:
    written, pruned = in_session.ask(sql, PLAIN), in_session.ask(sql, PRUNED)
    assert pruned.rows == written.rows
    assert pruned.expanded == set(views)
    assert Reason.APPLIED in pruned.reasons
    # Spark's own pruning finds the same partitions.
    assert pruned.files("by_k").selected <= written.files("by_k").selected
    assert pruned.files("by_k").selected < pruned.files("by_k").total


def test_fewer_files_are_read_than_by_the_query_as_written(in_session: InSession) -> None:
    sql = "SELECT s.id FROM in_order s JOIN y99 ON s.k = y99.k"
    written, pruned = in_session.ask(sql, PLAIN), in_session.ask(sql, PRUNED)
    assert pruned.rows == written.rows
    files = pruned.files("sorted_by_k")
    assert files.selected < written.files("sorted_by_k").selected


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT c.k FROM chance c JOIN lake.shop.dim d ON c.k = d.k WHERE d.year = 1999",
        "WITH lines AS (SELECT k FROM lake.shop.by_k) SELECT l.k FROM lines l JOIN y99 ON l.k = y99.k",
        "SELECT r.k FROM lines TABLESAMPLE (100 PERCENT) r JOIN y99 ON r.k = y99.k",
    ],
    ids=["by chance", "the name of a CTE", "a sample"],
)
def test_other_texts_over_temporary_views_run_as_written(in_session: InSession, sql: str) -> None:
    written, pruned = in_session.ask(sql, PLAIN), in_session.ask(sql, PRUNED)
    assert pruned.rows == written.rows
    assert pruned.reasons == {Reason.SESSION_VIEW}


def test_views_can_be_left_as_they_are(in_session: InSession) -> None:
    sql = "SELECT f.id FROM by_k f JOIN dim ON f.k = dim.k"
    asked = in_session.ask(sql, PruningRequest(rewrites=frozenset(RewriteKind) - {RewriteKind.VIEW_EXPANDED}))
    assert asked.reasons == {Reason.SESSION_VIEW}
