"""Queries that are answered with the results of earlier ones, and those that must run."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from service.errors.query_errors import QueryFailed, QueryTimedOut, ResultExpired
from service.errors.unavailable import EngineLost
from service.model.policies.actions import Action
from service.model.policies.decisions import Access
from service.model.policies.policies import ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.query.query import Parameter, PruningRequest, QueryState
from service.model.query.reuse import (
    PlanReads,
    Reusability,
    ReuseChoice,
    Reused,
    ReuseOutcome,
    TableRead,
)
from service.model.query.scan_predicates import ScanPredicate
from service.model.sessions.sessions import SessionUse, SessionValues, SessionView
from service.model.tables.tables import TableName, TableSource
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.ports.engine.query_engine import EngineResult
from service.query.registry.query_handle import QueryHandle
from service.query.reuse.kept_results import unread_scans
from service.query.reuse.reuse_lookup import ReuseBounds
from service.query.workers.sweep import end_late_queries
from service.session_values.session_settings import ANSI, SHUFFLE_PARTITIONS, TIME_ZONE
from tests.fakes.catalogs import facts_of_empty_table
from tests.fakes.engine import engine_result
from tests.fakes.query_records import scan
from tests.fakes.result_store import FakeResultStore
from tests.unit.query.reuse.rig import ITEM, SALES, SQL, Rig

VIEW = TableName("lake", "shop", "v")
OF_VIEW = "SELECT * FROM v"


@pytest.fixture
def rig() -> Rig:
    return Rig()


def runs(rig: Rig) -> int:
    return len(rig.bench.engine.runs)


# ---- hits -----------------------------------------------------------------------------------------


def test_an_equal_query_is_answered_without_a_run(rig: Rig) -> None:
    first = rig.ran()
    rig.bench.clock.advance(timedelta(seconds=5))
    again = rig.submit("SELECT  sum(paid)\n FROM sales;", caller="bob")
    found = rig.record_of(again)
    assert found.reused == Reused(first.query_id, 5_000)
    assert (found.state, found.caller, found.row_count) == (QueryState.SUCCEEDED, "bob", 3)
    assert rig.bench.results.chunk(again.query_id, 0) == rig.bench.results.chunk(first.query_id, 0)
    assert again.status(0).manifest == first.status(0).manifest
    assert (runs(rig), rig.waiting) == (1, [])
    assert (rig.record_of(first).reused, len(rig.facts.asked)) == (None, 1)
    assert rig.reuse.outcomes[ReuseOutcome.HIT] == rig.reuse.outcomes[ReuseOutcome.NO_RESULT] == 1


def test_the_record_of_a_reused_result_names_all_tables_as_not_read(rig: Rig) -> None:
    sql = "SELECT * FROM sales JOIN item"
    rig.facts.put(sql, SALES, ITEM)
    read = replace(scan(str(SALES), 10, 4), columns=("paid",))
    rig.bench.engine.answer = replace(engine_result(scans=(read,)), applied=("row filter of x",))
    rig.ran(sql)
    found = rig.record_of(rig.submit(sql))
    [sales, item] = found.scans
    assert (sales.table, sales.columns, sales.has_run) == (str(SALES), ("paid",), False)
    assert sales.metrics == read.metrics.unread()
    assert (item.table, item.has_run, item.metrics.data_files.selected) == (str(ITEM), False, 0)
    assert found.applied == ("row filter of x",)
    assert rig.bench.journal.records[-1].lineage is not None


def test_a_query_without_tables_is_reused(rig: Rig) -> None:
    rig.facts.put("SELECT 1")
    rig.ran("SELECT 1")
    rig.bench.catalogs.down.add("lake")
    assert rig.is_reused("SELECT 1")


def test_a_result_that_fits_a_smaller_limit_is_reused(rig: Rig) -> None:
    rig.ran(row_limit=100)
    assert rig.is_reused(row_limit=3)
    assert not rig.is_reused(row_limit=2)
    assert rig.reuse.outcomes[ReuseOutcome.LIMITS] == 1


def test_an_answer_holds_no_more_than_its_record_and_its_pages_need(rig: Rig) -> None:
    """Each request has a text and values of its own, as if it came over HTTP."""

    def asked() -> tuple[str, dict[str, Parameter]]:
        return f"SELECT {'x' * 900} FROM sales WHERE a = :a"[:], {"a": Parameter("y" * 100_000)}

    sql, parameters = asked()
    rig.facts.put(sql, SALES)
    first = rig.ran(sql, parameters=parameters)
    found = rig.submit(*asked()[:1], parameters=asked()[1])
    assert found.record.reused == Reused(first.query_id, 0)
    other = rig.submit(*asked()[:1], parameters=asked()[1])
    assert other.request.sql is found.request.sql is found.record.sql is found.text.sql
    assert (found.request.parameters, found.request.session) == ((), None)
    # The same request under its id is still known.
    assert found.fingerprint == other.fingerprint == first.fingerprint
    rig.bench.journal.records.clear()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    held = [rig.submit(*asked()[:1], parameters=asked()[1]) for _ in range(50)]
    rig.bench.journal.records.clear()
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert {query.record.state for query in held} == {QueryState.SUCCEEDED}
    assert taken < 50 * 10_000


def test_each_query_reads_its_result_for_its_own_time(rig: Rig) -> None:
    first = rig.ran()
    again = rig.submit()
    rig.bench.results.drop(first.query_id)
    assert rig.bench.results.chunk(again.query_id, 0).num_rows == 3


# ---- choices --------------------------------------------------------------------------------------


def test_a_query_that_declines_runs_and_leaves_nothing(rig: Rig) -> None:
    rig.ran(reuse=ReuseChoice.NEVER)
    assert not rig.is_reused()
    rig.ran(reuse=ReuseChoice.NEVER)
    assert (runs(rig), rig.reuse.use.entries) == (3, 1)


def test_a_refresh_runs_and_replaces_the_result(rig: Rig) -> None:
    rig.ran()
    fresh = rig.ran(reuse=ReuseChoice.REFRESH)
    reused = rig.submit().record.reused
    assert reused is not None
    assert (reused.query_id, runs(rig)) == (fresh.query_id, 2)


def test_without_a_choice_the_operator_decides() -> None:
    for default, expected in ((ReuseChoice.NEVER, False), (ReuseChoice.USE, True)):
        rig = Rig(bounds=ReuseBounds(default=default))
        rig.ran(reuse=None)
        assert rig.is_reused(reuse=None) is expected


def test_who_asks_for_a_verification_gets_a_run(rig: Rig) -> None:
    rig.ran()
    assert not rig.is_reused(pruning=PruningRequest(is_verified=True))


def in_session(**values: Any) -> SessionUse:
    return SessionUse(uuid4(), SessionValues("lake", "shop", **values))


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        (in_session(), True),
        (in_session(settings={ANSI: "true", TIME_ZONE: "UTC"}), True),
        (in_session(settings={TIME_ZONE: "utc"}), False),
        (in_session(settings={SHUFFLE_PARTITIONS: "4"}), True),
        (in_session(settings={ANSI: "false"}), False),
        (in_session(settings={TIME_ZONE: "Europe/Berlin"}), False),
        (in_session(views=(SessionView("top", "SELECT 1"),)), False),
        (in_session(views=(SessionView("sales", "SELECT 1"),)), False),
    ],
    ids=[
        "no values",
        "the gateway's own",
        "time zone in another spelling",
        "harmless",
        "types",
        "time zone",
        "another view",
        "view of the name",
    ],
)
def test_a_session_that_reads_as_none_reuses_results_and_leaves_them(
    session: SessionUse, expected: bool
) -> None:
    rig = Rig(bounds=ReuseBounds(own_settings={ANSI: "true", TIME_ZONE: "UTC"}))
    rig.ran()
    assert rig.is_reused(session=session) is expected
    rig = Rig(bounds=rig.bounds)
    rig.ran(session=session)
    assert rig.is_reused() is expected


# ---- never stale ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda rig: rig.bench.catalogs.append(SALES, 1),
        lambda rig: rig.bench.catalogs.put(facts_of_empty_table(SALES)),
        lambda rig: rig.bench.catalogs.put(
            replace(rig.bench.catalogs.facts(SALES), metadata_location="memory:/another")
        ),
        lambda rig: rig.bench.catalogs.put(replace(rig.bench.catalogs.facts(SALES), table_uuid=uuid4())),
        lambda rig: rig.bench.catalogs.put(replace(rig.bench.catalogs.facts(SALES), metadata_location="")),
        lambda rig: rig.bench.catalogs.put(
            replace(rig.bench.catalogs.facts(SALES), source=TableSource.FILES)
        ),
        lambda rig: rig.bench.catalogs.down.add("lake"),
    ],
    ids=["commit", "recreated", "metadata", "uuid", "unknown state", "another source", "catalog down"],
)
def test_a_table_in_another_state_makes_a_query_run(rig: Rig, change: Callable[[Rig], None]) -> None:
    rig.ran()
    change(rig)
    assert not rig.is_reused()


def test_a_change_back_is_another_state_only_if_it_is_a_commit(rig: Rig) -> None:
    before = rig.bench.catalogs.facts(SALES)
    rig.ran()
    rig.bench.catalogs.append(SALES, 1)
    assert not rig.is_reused()
    rig.bench.catalogs.put(before)
    assert rig.is_reused()


def committing_while_it_runs(rig: Rig, result: EngineResult) -> None:
    """Makes the engine answer with this result, and another writer commit before that."""

    def plan_text() -> PlanReads | None:
        rig.bench.catalogs.append(SALES, 1)
        return result.reads()

    rig.bench.engine.answer = replace(result, reads=plan_text)


def test_a_commit_during_the_analysis_does_no_harm(rig: Rig) -> None:
    rig.facts.before_answer = lambda: rig.bench.catalogs.append(SALES, 1)
    rig.ran()
    # The states were asked after the analysis.
    assert rig.is_reused()


def test_a_commit_on_the_way_keeps_the_result_from_being_reused(rig: Rig) -> None:
    committing_while_it_runs(rig, engine_result())
    assert rig.ran().record.state is QueryState.SUCCEEDED
    assert rig.reuse.use.entries == 0


def test_a_result_is_kept_if_its_plan_has_read_the_states_that_it_began_with(rig: Rig) -> None:
    before = rig.bench.catalogs.facts(SALES)
    read = TableRead(SALES, before.table_uuid, before.schema_id, before.metadata_location, before.snapshot_id)
    committing_while_it_runs(rig, replace(engine_result(), reads=lambda: PlanReads((read,))))
    leader, follower = rig.submit(), rig.submit()
    rig.run()
    # Both were submitted before the commit.
    assert reused_from(follower) == {leader.query_id}
    late = rig.submit()
    assert rig.waiting == [late]
    rig.bench.catalogs.put(before)
    assert reused_from(rig.submit()) == {leader.query_id}


def test_a_follower_of_a_known_text_gets_the_result_of_its_own_moment(rig: Rig) -> None:
    rig.ran()
    rig.bench.catalogs.append(SALES, 1)
    before = rig.bench.catalogs.facts(SALES)
    read = TableRead(SALES, before.table_uuid, before.schema_id, before.metadata_location, before.snapshot_id)
    leader, follower = rig.submit(), rig.submit()
    committing_while_it_runs(rig, replace(engine_result(), reads=lambda: PlanReads((read,))))
    rig.run()
    assert reused_from(follower) == {leader.query_id}
    assert not rig.is_reused()


def test_other_columns_make_the_engine_analyze_the_text_again(rig: Rig) -> None:
    before = rig.bench.catalogs.facts(SALES)
    rig.facts.reads[SQL] = (
        TableRead(SALES, before.table_uuid, before.schema_id, before.metadata_location, before.snapshot_id),
    )
    rig.ran()
    rig.bench.catalogs.append(SALES, 1)
    rig.ran()
    assert len(rig.facts.asked) == 1
    after = replace(before, schema_id=before.schema_id + 1, metadata_location="memory:/other")
    rig.bench.catalogs.put(after)
    rig.facts.put(SQL, SALES, reusability=Reusability.TIME_DEPENDENT)
    rig.facts.reads[SQL] = (replace(rig.facts.reads[SQL][0], schema_id=after.schema_id),)
    rig.ran()
    assert (len(rig.facts.asked), rig.is_reused()) == (2, False)


def test_a_replaced_view_makes_a_query_run(rig: Rig) -> None:
    rig.views.states[VIEW] = "first"
    rig.facts.put(OF_VIEW, SALES, views=(VIEW,))
    rig.ran(OF_VIEW)
    assert rig.is_reused(OF_VIEW)
    rig.views.states[VIEW] = "second"
    rig.facts.put(OF_VIEW, ITEM, views=(VIEW,))
    assert not rig.is_reused(OF_VIEW)
    assert rig.is_reused(OF_VIEW)
    rig.bench.catalogs.append(SALES, 1)
    assert rig.is_reused(OF_VIEW)
    rig.bench.catalogs.append(ITEM, 1)
    assert not rig.is_reused(OF_VIEW)


def test_a_view_that_is_gone_or_silent_makes_a_query_run(rig: Rig) -> None:
    rig.views.states[VIEW] = "first"
    rig.facts.put(OF_VIEW, SALES, views=(VIEW,))
    rig.ran(OF_VIEW)
    rig.views.is_down = True
    assert not rig.is_reused(OF_VIEW)
    rig.views.is_down = False
    assert rig.is_reused(OF_VIEW)
    del rig.views.states[VIEW]
    assert not rig.is_reused(OF_VIEW)


def test_another_question_is_another_result(rig: Rig) -> None:
    named = "SELECT sum(paid) FROM sales WHERE id = :id"
    rig.facts.put(named, SALES)
    rig.ran(named, parameters={"id": Parameter(1)})
    assert rig.is_reused(named, parameters={"id": Parameter(1)})
    assert not rig.is_reused(named, parameters={"id": Parameter(2)})
    assert not rig.is_reused(named, parameters={"id": Parameter("1")})
    assert not rig.is_reused(named, parameters={"id": Parameter(1, "BIGINT")})
    assert not rig.is_reused(named, parameters={"id": Parameter(1)}, schema="other")
    assert not rig.is_reused(named, parameters={"id": Parameter(1)}, catalog="other")


def test_a_value_that_may_be_the_present_is_never_reused(rig: Rig) -> None:
    named = "SELECT sum(paid) FROM sales WHERE day = :day"
    rig.facts.put(named, SALES)
    rig.ran(named, parameters={"day": Parameter("today", "DATE")})
    assert not rig.is_reused(named, parameters={"day": Parameter("today", "DATE")})


@pytest.mark.parametrize("reason", [each for each in Reusability if each is not Reusability.REUSABLE])
def test_a_text_that_may_not_be_reused_runs_each_time(rig: Rig, reason: Reusability) -> None:
    rig.facts.put(SQL, SALES, reusability=reason)
    rig.ran()
    assert not rig.is_reused()
    assert (len(rig.facts.asked), rig.reuse.use.entries) == (1, 0)
    assert rig.reuse.outcomes[ReuseOutcome.NOT_REUSABLE] == 2


def test_a_truncated_or_large_result_is_not_kept(rig: Rig) -> None:
    rig.bench.engine.answer = replace(engine_result(), is_truncated=True)
    rig.ran()
    assert not rig.is_reused()
    small = Rig(bounds=ReuseBounds(max_result_bytes=1))
    small.ran()
    assert not small.is_reused()


def test_a_failed_query_leaves_nothing(rig: Rig) -> None:
    rig.bench.engine.outcomes.append(QueryFailed("Division by zero."))
    assert rig.ran().record.state is QueryState.FAILED
    assert not rig.is_reused()


def test_an_old_result_is_not_reused() -> None:
    rig = Rig(bounds=ReuseBounds(max_age_ms=10_000))
    rig.ran()
    rig.bench.clock.advance(timedelta(seconds=10))
    assert rig.is_reused()
    rig.bench.clock.advance(timedelta(milliseconds=1))
    assert not rig.is_reused()
    assert rig.reuse.outcomes[ReuseOutcome.TOO_OLD] == 1
    assert rig.is_reused()


def test_a_result_that_is_gone_is_a_miss(rig: Rig) -> None:
    first = rig.ran()
    rig.bench.results.drop(first.query_id)
    assert not rig.is_reused()
    assert rig.is_reused()


def test_a_result_expires_for_each_query_on_its_own(rig: Rig) -> None:
    rig.bench.results = FakeResultStore(rig.bench.clock, timedelta(minutes=1))
    rig.reuse = rig.new_reuse()
    first = rig.ran()
    rig.bench.clock.advance(timedelta(seconds=40))
    again = rig.submit()
    rig.bench.clock.advance(timedelta(seconds=40))
    assert rig.bench.results.chunk(again.query_id, 0).num_rows == 3
    with pytest.raises(ResultExpired):
        rig.bench.results.chunk(first.query_id, 0)
    # The time to live of what is kept is that of the query that ran.
    assert not rig.is_reused()
    rig.bench.clock.advance(timedelta(seconds=21))
    with pytest.raises(ResultExpired):
        rig.bench.results.chunk(again.query_id, 0)


def test_a_full_disk_fails_runs_and_no_hit(rig: Rig) -> None:
    rig.facts.put("SELECT 1")
    rig.ran("SELECT 1")
    rig.bench.results._total_bytes = 0
    assert rig.ran().record.error is not None
    assert rig.is_reused("SELECT 1")
    assert not rig.is_reused()


def test_what_the_engine_cannot_analyze_runs_and_fails_as_usual(rig: Rig) -> None:
    rig.bench.engine.outcomes.append(QueryFailed("Unknown."))
    query = rig.ran("SELEC 1")
    assert query.record.error is not None
    assert query.record.error.code == "QUERY_FAILED"
    assert rig.reuse.outcomes[ReuseOutcome.UNKNOWN_TEXT] == 1


# ---- policies -------------------------------------------------------------------------------------


def access(*tables: TableName, where: str | None = None, mask: str | None = None) -> Access:
    grants = tuple(Grant("r", Action.SELECT, TablePattern.parse(str(table))) for table in tables)
    pattern = TablePattern.parse(str(SALES))
    filters = () if where is None else (RowFilter("r", pattern, where),)
    masks = () if mask is None else (ColumnMask("r", pattern, "card", mask),)
    return RoleAccess(CompiledPolicies(PolicySet(1, grants, filters, masks, ())), frozenset({"r"}))


def test_values_that_a_run_was_filtered_by_are_not_kept_with_its_result() -> None:
    ran = replace(scan(str(SALES), 9, 1), predicates=(ScanPredicate("card", (("4111", "4111"),)),))
    [kept] = unread_scans((ran,), {})
    assert kept.predicates == ()


def test_callers_of_equal_policy_share_a_result(rig: Rig) -> None:
    rig.ran(access=access(SALES, where="region = 'A'"), caller="ann")
    assert rig.is_reused(access=access(SALES, ITEM, where="region = 'A'"), caller="bob")


@pytest.mark.parametrize(
    "other",
    [
        access(SALES),
        access(SALES, where="region = 'B'"),
        access(SALES, where="region = 'A'", mask="NULL"),
        access(ITEM),
        access(),
    ],
    ids=["all rows", "other rows", "masked", "no grant", "no grant at all"],
)
def test_callers_of_another_policy_do_not(rig: Rig, other: Access) -> None:
    rig.ran(access=access(SALES, where="region = 'A'"))
    assert not rig.is_reused(access=other, caller="bob")
    assert rig.is_reused(access=access(SALES, where="region = 'A'"))


def test_whether_a_text_is_reused_depends_on_the_policies_too(rig: Rig) -> None:
    rig.ran(access=access(SALES))
    rig.facts.put(SQL, SALES, reusability=Reusability.TIME_DEPENDENT)
    of_user = access(SALES, where="region = current_user()")
    rig.ran(access=of_user)
    assert not rig.is_reused(access=of_user)
    assert rig.is_reused(access=access(SALES))


def test_another_definition_of_a_view_decides_for_all_policies_again(rig: Rig) -> None:
    rig.views.states[VIEW] = "first"
    rig.facts.put(OF_VIEW, SALES, views=(VIEW,))
    one, other = access(SALES, VIEW), access(SALES, VIEW, where="region = 'A'")
    for each in (one, other):
        rig.ran(OF_VIEW, access=each)
        assert rig.is_reused(OF_VIEW, access=each)
    rig.views.states[VIEW] = "second"
    rig.facts.put(OF_VIEW, SALES, views=(VIEW,), reusability=Reusability.NONDETERMINISTIC)
    for each in (one, other):
        rig.ran(OF_VIEW, access=each)
        assert not rig.is_reused(OF_VIEW, access=each)
    assert len(rig.facts.asked) == 4


# ---- equal queries that are open at once ------------------------------------------------------------


def reused_from(*queries: QueryHandle) -> set[UUID | None]:
    found = (query.record.reused for query in queries)
    return {None if reused is None else reused.query_id for reused in found}


@pytest.mark.parametrize("is_known", [False, True])
def test_equal_queries_run_once(rig: Rig, is_known: bool) -> None:
    if is_known:
        rig.ran()
        rig.bench.catalogs.append(SALES, 1)
    before = runs(rig)
    leader, *others = (rig.submit(caller=name) for name in ("ann", "bob", "cid"))
    assert rig.waiting == [leader]
    assert {other.record.state for other in others} == {QueryState.QUEUED}
    rig.run()
    assert runs(rig) == before + 1
    assert reused_from(*others) == {leader.query_id}
    assert rig.waiting == []


def test_a_follower_ends_alone(rig: Rig) -> None:
    leader, canceled, late = rig.submit(), rig.submit(), rig.submit(timeout_ms=1_000)
    rig.cancel(canceled)
    rig.bench.clock.advance(timedelta(seconds=2))
    end_late_queries(rig.bench.book, rig.ports)
    assert (canceled.record.state, late.record.state) == (QueryState.CANCELED, QueryState.FAILED)
    rig.run()
    assert leader.record.state is QueryState.SUCCEEDED
    assert len([record for record in rig.bench.journal.records if record.query_id == canceled.query_id]) == 1


def test_when_a_leader_is_canceled_one_of_the_others_leads(rig: Rig) -> None:
    leader, second, third = rig.submit(), rig.submit(), rig.submit()
    rig.waiting.clear()
    rig.cancel(leader)
    assert rig.waiting == [second]
    rig.run()
    assert (runs(rig), reused_from(third)) == (1, {second.query_id})


@pytest.mark.parametrize("failure", [EngineLost(may_run_again=False), QueryTimedOut("late")])
def test_an_end_of_the_leaders_own_lets_one_of_the_others_run(rig: Rig, failure: Exception) -> None:
    leader, second, third = rig.submit(), rig.submit(), rig.submit()
    rig.bench.engine.outcomes.append(failure)
    rig.run()
    assert (leader.record.state, rig.waiting) == (QueryState.FAILED, [second])
    rig.run()
    assert reused_from(third) == {second.query_id}


@pytest.mark.parametrize("end", ["fails", "is truncated", "is not deterministic"])
def test_others_do_not_wait_for_each_other_where_no_result_is_shared(rig: Rig, end: str) -> None:
    if end == "is not deterministic":
        rig.facts.put(SQL, SALES, reusability=Reusability.NONDETERMINISTIC)
    _, second, third = rig.submit(), rig.submit(), rig.submit()
    answer = replace(engine_result(), is_truncated=end == "is truncated")
    rig.bench.engine.outcomes.extend([QueryFailed("1 / 0") if end == "fails" else answer] * 3)
    rig.run()
    assert rig.waiting == [second, third]
    rig.run()
    rig.run()
    assert runs(rig) == 3
    assert second.record.reused is third.record.reused is None


def test_a_follower_with_other_rights_runs_on_its_own(rig: Rig) -> None:
    leader = rig.submit(access=access(SALES))
    equal = rig.submit(access=access(SALES, ITEM))
    other = rig.submit(access=access(SALES, where="region = 'A'"))
    denied = rig.submit(access=access(ITEM))
    assert rig.waiting == [leader]
    rig.run()
    assert reused_from(equal) == {leader.query_id}
    assert set(rig.waiting) == {other, denied}


def test_a_follower_never_gets_a_result_from_before_its_submission(rig: Rig) -> None:
    rig.ran()
    rig.bench.catalogs.append(SALES, 1)
    leader = rig.submit()
    rig.bench.catalogs.append(SALES, 1)
    follower = rig.submit()
    assert rig.waiting == [leader, follower]
    rig.run()
    # The leader began after the second commit, so its result is the follower's as well.
    assert rig.run() is follower
    assert (reused_from(follower), runs(rig)) == ({leader.query_id}, 2)


def test_a_leader_with_a_smaller_limit_leads_nobody_with_a_larger_one(rig: Rig) -> None:
    small, large = rig.submit(row_limit=2), rig.submit(row_limit=100)
    assert rig.waiting == [small, large]


def test_a_refresh_leads_those_that_come_while_it_runs(rig: Rig) -> None:
    rig.ran()
    refresh = rig.submit(reuse=ReuseChoice.REFRESH)
    assert rig.waiting == [refresh]
    rig.bench.catalogs.append(SALES, 1)
    followers = []
    keep = rig.reuse.keep

    def while_it_runs(*arguments: object) -> None:
        followers.append(rig.submit())
        keep(*arguments)  # type: ignore[arg-type]

    rig.reuse.keep = while_it_runs  # type: ignore[assignment, method-assign]
    rig.run()
    assert reused_from(*followers) == {refresh.query_id}


def test_a_query_that_was_canceled_before_its_answer_keeps_no_rows(rig: Rig) -> None:
    rig.ran()
    query = rig.submit(reuse=ReuseChoice.NEVER)
    found = rig.reuse.find(rig.submit(reuse=ReuseChoice.REFRESH))
    assert found is None
    kept = rig.reuse._lookup.found(query, rig.reuse._lookup.live_states())
    rig.cancel(query)
    rig.reuse.place(query, kept, rig.waiting.append)
    assert query.record.state is QueryState.CANCELED
    assert rig.bench.results.share(query.query_id, uuid4()) is False
