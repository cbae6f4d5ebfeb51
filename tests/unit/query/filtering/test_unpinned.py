"""Tables without snapshots: a filter counts only if they did not change during the query."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from service.errors.query_errors import VerificationFailed
from service.model.filters.filter_record import Reason
from service.model.query.query import PruningRequest, QueryRequest
from service.model.tables.tables import TableAt, TableFacts, TableName, TableSource
from service.query.filtering.pruned_query import PrunedQuery
from service.query.filtering.unpinned import Unpinned, UnpinnedTables, unpinned
from service.query.filtering.unpinned_references import UnpinnedReference
from service.query.registry.query_handle import QueryHandle
from tests.fakes.catalogs import facts_of_empty_table
from tests.fakes.engine import FakeEngine, engine_result
from tests.fakes.filters import date_filter
from tests.fakes.query_records import full_record
from tests.unit.query.conftest import Bench


def files(table: str) -> TableFacts:
    return replace(facts_of_empty_table(TableName("spark_catalog", "logs", table)), source=TableSource.FILES)


WRITTEN = "SELECT n FROM t"
EVENTS = files("events")
KINDS = files("kinds")


def ran(bench: Bench, is_verified: bool = False) -> QueryHandle:
    """Runs a query over both tables, filtered by keys of the second."""
    request = QueryRequest(WRITTEN, timeout_ms=5000, pruning=PruningRequest(is_verified=is_verified))
    query = bench.of(request)
    filters = tuple(filter_record for filter_record in full_record().filters if filter_record.is_applied)
    assert filters
    query.prune(
        PrunedQuery(
            "pruned",
            rewritten_sql="pruned",
            pinned_sql="pinned",
            filters=filters,
            unpinned=UnpinnedTables(
                (Unpinned(EVENTS, is_build=False), Unpinned(KINDS, is_build=True)),
                references=tuple(UnpinnedReference(TableAt(facts.name), facts) for facts in (EVENTS, KINDS)),
            ),
        )
    )
    bench.run_pruned(query)
    return query


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.catalogs.put(EVENTS)
    bench.catalogs.put(KINDS)
    return bench


def texts(bench: Bench) -> list[str]:
    return [run.sql for run in bench.engine.runs]


def test_the_pruned_rows_count_while_nothing_moves(bench: Bench) -> None:
    query = ran(bench)
    assert texts(bench) == ["pruned"]
    assert {filter_record.reason for filter_record in query.pruned.filters} == {Reason.APPLIED}


def test_after_a_change_of_a_build_sides_files_the_query_runs_as_it_was_written(bench: Bench) -> None:
    bench.catalogs.put(replace(KINDS, table_uuid=uuid4()))
    query = ran(bench)
    assert texts(bench) == ["pruned", WRITTEN]
    assert {filter_record.reason for filter_record in query.pruned.filters} == {Reason.SNAPSHOT_MOVED}
    assert query.pruned.rewritten_sql is None


def test_new_files_of_a_pruned_table_do_no_harm(bench: Bench) -> None:
    bench.catalogs.put(replace(EVENTS, table_uuid=uuid4()))
    ran(bench)
    assert texts(bench) == ["pruned"]


def test_other_columns_of_a_pruned_table_do(bench: Bench) -> None:
    bench.catalogs.put(replace(EVENTS, schema_id=EVENTS.schema_id + 1))
    ran(bench)
    assert texts(bench) == ["pruned", WRITTEN]


def test_a_table_that_cannot_be_asked_for_any_more_may_have_moved(bench: Bench) -> None:
    bench.catalogs.down.add("spark_catalog")
    ran(bench)
    assert texts(bench) == ["pruned", WRITTEN]


def test_rows_of_a_table_that_has_changed_prove_nothing_against_a_filter(bench: Bench) -> None:
    bench.engine = FakeEngine(engine_result(2), engine_result(3), engine_result(3))
    bench.catalogs.put(replace(EVENTS, table_uuid=uuid4()))
    ran(bench, is_verified=True)
    assert texts(bench) == ["pruned", "pinned", "pinned"]


def test_rows_of_a_table_that_has_not_do(bench: Bench) -> None:
    bench.engine = FakeEngine(engine_result(2), engine_result(3), engine_result(3))
    with pytest.raises(VerificationFailed):
        ran(bench, is_verified=True)


def test_only_a_query_with_a_filter_depends_on_its_tables() -> None:
    facts = {TableAt(facts.name): facts for facts in (EVENTS, KINDS)}
    wanted = date_filter()
    by_kinds = replace(wanted, build=replace(wanted.build, tables=(KINDS.name,), snapshot_ids=(None,)))
    assert unpinned([], facts) == ()
    assert unpinned([by_kinds], facts) == (Unpinned(EVENTS, False), Unpinned(KINDS, True))
