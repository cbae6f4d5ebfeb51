"""Queries are answered from states that are brought up to date, or run in full and say why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

import pytest

from service.errors.query_errors import QueryFailed
from service.errors.unavailable import EngineLost
from service.model.policies.actions import Action
from service.model.policies.decisions import Access
from service.model.policies.policies import ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.query.query import PruningRequest, QueryState
from service.model.query.refresh import RefreshOutcome
from service.model.query.results import Column
from service.model.query.reuse import PlanShape, ReuseChoice, Reused, ReuseKind
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.ports.bounded_calls import Answer, CallGivenUp, no_answer
from service.query.refresh.refresher import REFUSED_FOR_MS, RefreshBounds
from tests.fakes.engine import engine_result
from tests.fakes.held_rows import FakeHeldRows
from tests.unit.query.refresh.rig import PROBE, RESULT, TYPES, RefreshRig, refreshed, said, state_rows
from tests.unit.query.reuse.rig import ITEM, SALES, SQL

R = TypeVar("R")
STATE_SQL = "SELECT sum(paid) AS __a0, sum(abs(CAST(paid AS DECIMAL(20,0)))) AS __b0 FROM sales"
ANSWER_SQL = "SELECT CAST(sum(__a0) AS BIGINT) AS `sum(paid)` FROM __sluice_state"


@pytest.fixture
def rig() -> RefreshRig:
    return RefreshRig()


def with_state(rig: RefreshRig, total: int = 5) -> RefreshRig:
    """Asks once, and appends to the fact afterwards."""
    rig.script_full(total)
    assert said(rig.ran()) == "ran in full, and its groups are kept"
    rig.bench.catalogs.append(SALES, 1)
    rig.texts()
    return rig


# ---- answers --------------------------------------------------------------------------------------


def test_after_an_append_only_the_added_files_are_read(rig: RefreshRig) -> None:
    rig.script_full()
    first = rig.ran()
    assert rig.texts() == [f"{STATE_SQL} VERSION AS OF 1", ANSWER_SQL]
    assert first.record.reused is None
    rig.bench.clock.advance(timedelta(seconds=3))
    rig.bench.catalogs.append(SALES, 1)
    rig.script_delta(2)
    again = rig.ran()
    options = "`end-snapshot-id`='2', `start-snapshot-id`='1'"
    assert rig.texts() == [f"{STATE_SQL} WITH ({options})", ANSWER_SQL]
    assert again.record.reused == Reused(first.query_id, 3_000, ReuseKind.REFRESHED)
    assert said(again) == "groups as of snapshot 1, and files added until 2"
    assert rig.held.taken[-1].column("__a0").to_pylist() == [5, 2]
    assert rig.held.held == {}
    assert rig.outcomes() == {RefreshOutcome.STATE_KEPT: 1, RefreshOutcome.REFRESHED: 1}


def test_only_statements_about_states_are_marked(rig: RefreshRig) -> None:
    rig.script_full()
    rig.ran()
    assert [statement.is_of_state for statement in rig.bench.engine.runs] == [True, True]
    rig.texts()
    rig.ran(reuse=ReuseChoice.REFRESH)
    assert [statement.is_of_state for statement in rig.bench.engine.runs] == [False]


def test_equal_queries_share_a_state_and_its_result(rig: RefreshRig) -> None:
    with_state(rig).script_delta()
    waiting = [rig.submit(), rig.submit("SELECT  sum(paid)\nFROM sales", caller="bob")]
    while rig.waiting:
        rig.run()
    assert len(rig.texts()) == 2
    assert [query.record.state for query in waiting] == [QueryState.SUCCEEDED] * 2
    assert rig.is_reused()
    assert rig.refresher.use.entries == 1


def test_a_commit_without_rows_reads_no_table(rig: RefreshRig) -> None:
    with_state(rig).script_delta()
    rig.ran()
    rig.texts()
    rig.change(metadata_location="memory:/other")
    assert refreshed(rig.ran()) is not None
    assert rig.texts() == [ANSWER_SQL]


def test_the_least_used_state_makes_room() -> None:
    rig = RefreshRig(max_states=1)
    other = "SELECT sum(paid) FROM item"
    rig.knows(other, ITEM)
    rig.describer.columns |= {other: RESULT, PROBE.replace("sales", "item"): TYPES}
    with_state(rig)
    rig.script(state_rows(1), rig.read(ITEM))
    assert said(rig.ran(other)) == "ran in full, and its groups are kept"
    assert rig.refresher.use.entries == 1
    rig.script_full()
    assert refreshed(rig.ran()) is None


def test_a_state_lives_for_a_time(rig: RefreshRig) -> None:
    with_state(rig)
    rig.bench.clock.advance(timedelta(seconds=61))
    rig.script_full()
    assert refreshed(rig.ran()) is None


@pytest.mark.parametrize(
    "asked",
    [{"reuse": ReuseChoice.REFRESH}, {"pruning": PruningRequest(rewrites=frozenset())}],
    ids=["REFRESH", "no rewrites"],
)
def test_a_caller_may_decline(rig: RefreshRig, asked: dict[str, Any]) -> None:
    with_state(rig)
    query = rig.ran(**asked)
    assert (query.record.rewrites, rig.texts()) == ((), [SQL])


# ---- full runs ------------------------------------------------------------------------------------


class NoTime:
    """Calls that are never done in time."""

    def call(self, function: Callable[..., R], *arguments: object, answer: Answer = no_answer) -> R:  # noqa: ARG002
        raise CallGivenUp("took too long")


def ran_in_full(rig: RefreshRig, reason: RefreshOutcome, sql: str = SQL) -> None:
    """Checks that a query runs as it is written, says why, and does so again without another try."""
    query = rig.ran(sql)
    assert said(query) == f"ran in full: {reason.value}"
    assert query.record.state is QueryState.SUCCEEDED
    assert query.record.reused is None
    assert rig.texts()[-1] == sql
    assert rig.outcomes()[reason] == 1
    rig.bench.catalogs.append(SALES, 1)
    rig.texts()
    assert said(rig.ran(sql)) == f"ran in full: {reason.value}"
    assert rig.texts() == [sql]
    assert rig.held.held == {}


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT paid FROM sales", RefreshOutcome.NOT_AGGREGATED),
        ("SELECT sum(paid) FROM (SELECT paid FROM sales LIMIT 3)", RefreshOutcome.SUBQUERY),
        ("WITH f AS (SELECT paid FROM sales) SELECT sum(paid) FROM sales", RefreshOutcome.CTE),
        ("SELECT sum(paid) FROM sales UNION SELECT 1", RefreshOutcome.NOT_ONE_SELECT),
        ("SELECT sum(paid) OVER () FROM sales", RefreshOutcome.WINDOW),
        ("SELECT count(DISTINCT paid) FROM sales", RefreshOutcome.DISTINCT),
        ("SELECT sum(paid) FROM sales GROUP BY ROLLUP (paid)", RefreshOutcome.GROUPING_SETS),
        ("SELECT /*+ REPARTITION(3) */ sum(paid) FROM sales", RefreshOutcome.HINT),
        ("SELECT sum(paid) FROM sales GROUP BY nothing", RefreshOutcome.NAMES),
        ("SELECT sum(paid) FROM sales VERSION AS OF 1", RefreshOutcome.TABLES),
    ],
)
def test_a_text_that_is_not_understood_runs_in_full(
    rig: RefreshRig, sql: str, reason: RefreshOutcome
) -> None:
    rig.knows(sql, SALES)
    ran_in_full(rig, reason, sql)


DERIVED = "SELECT sum(paid) FROM (SELECT paid FROM sales) AS f"
WITH = "WITH f AS (SELECT paid FROM sales) SELECT sum(paid) FROM f"


def with_nested(rig: RefreshRig, sql: str, source: str) -> RefreshRig:
    """Has the engine know a text with this FROM clause."""
    for text in (sql, f"SELECT * {source}"):
        rig.knows(text, SALES)
    probe = PROBE.replace("FROM sales", source)
    columns = (Column("paid", "BIGINT", is_nullable=True),)
    rig.describer.columns |= {sql: RESULT, probe: TYPES, f"SELECT * {source}": columns}
    return rig


def test_a_derived_table_is_read_at_the_snapshots_of_its_tables(rig: RefreshRig) -> None:
    with_nested(rig, DERIVED, "FROM (SELECT paid FROM sales) AS f").script_full()
    assert said(rig.ran(DERIVED)) == "ran in full, and its groups are kept"
    state, answer = rig.texts()
    assert state.endswith("FROM (SELECT paid FROM sales VERSION AS OF 1) AS f")
    assert answer == ANSWER_SQL


def test_groups_below_the_aggregation_are_refused_by_the_engines_word(rig: RefreshRig) -> None:
    source = "FROM (SELECT paid FROM sales) AS f"
    with_nested(rig, DERIVED, source)
    rig.facts.shapes[f"SELECT * {source}"] = PlanShape(aggregations=1)
    ran_in_full(rig, RefreshOutcome.AGGREGATED_TWICE, DERIVED)


@pytest.mark.parametrize(
    ("shape", "reason"),
    [
        (PlanShape(aggregations=2), RefreshOutcome.AGGREGATED_TWICE),
        (PlanShape(below_aggregations=frozenset({"GlobalLimit"})), RefreshOutcome.SUBQUERY),
        (PlanShape(nodes=frozenset({"Window"})), RefreshOutcome.NOT_ONE_SELECT),
        (PlanShape(aggregates=frozenset({"First"})), RefreshOutcome.AGGREGATE),
    ],
)
def test_the_engines_plan_decides(rig: RefreshRig, shape: PlanShape, reason: RefreshOutcome) -> None:
    rig.facts.shapes[SQL] = shape
    ran_in_full(rig, reason)


def test_a_common_table_expression_is_inlined_if_the_engine_reads_both_alike(rig: RefreshRig) -> None:
    with_nested(rig, WITH, "FROM (\nSELECT paid FROM sales\n) AS `f`").script_full()
    rig.facts.alike.add((WITH, " SELECT sum(paid) FROM (\nSELECT paid FROM sales\n) AS `f`"))
    assert said(rig.ran(WITH)) == "ran in full, and its groups are kept"


def test_otherwise_the_query_runs_in_full(rig: RefreshRig) -> None:
    with_nested(rig, WITH, "FROM (\nSELECT paid FROM sales\n) AS `f`")
    ran_in_full(rig, RefreshOutcome.CTE, WITH)


def test_groups_are_read_by_the_text_around_them(rig: RefreshRig) -> None:
    sql = f"SELECT s / 2 AS half FROM ({SQL}) AS g(s) WHERE s > 1"
    rig.knows(sql, SALES)
    half = (Column("half", "DOUBLE", is_nullable=True),)
    rig.describer.columns[sql] = half
    rig.bench.engine.answer = replace(engine_result(), columns=half)
    rig.script_full()
    assert said(rig.ran(sql)) == "ran in full, and its groups are kept"
    around = ANSWER_SQL.join(("SELECT s / 2 AS half FROM (", "\n) AS g(s) WHERE s > 1"))
    assert rig.texts()[-1] == around


def test_a_view_that_is_not_expanded_runs_in_full(rig: RefreshRig) -> None:
    view = TableName("lake", "shop", "v")
    sql = "SELECT sum(paid) FROM v"
    rig.views.states[view] = "as it is"
    rig.facts.put(sql, SALES, views=(view,))
    rig.facts.reads[sql] = (rig.read(is_version=False),)
    assert said(rig.ran(sql)) == "ran in full: VIEW"


@pytest.mark.parametrize(
    ("types", "reason"),
    [
        (("DOUBLE", "DOUBLE"), RefreshOutcome.FLOATING_POINT),
        (("VARIANT", "BIGINT"), RefreshOutcome.TYPE),
    ],
)
def test_values_without_an_exact_merge_run_in_full(
    rig: RefreshRig, types: tuple[str, str], reason: RefreshOutcome
) -> None:
    rig.describer.columns[PROBE] = [Column("__p", kind, is_nullable=True) for kind in types]
    ran_in_full(rig, reason)


def test_a_text_that_has_other_columns_runs_in_full(rig: RefreshRig) -> None:
    rig.describer.columns[SQL] = (*RESULT, *RESULT)
    ran_in_full(rig, RefreshOutcome.OTHER_COLUMNS)


def test_an_answer_with_other_columns_is_not_given(rig: RefreshRig) -> None:
    rig.describer.columns[SQL] = (Column("sum(paid)", "INT", is_nullable=True),)
    rig.describer.columns[PROBE] = TYPES
    rig.script_full()
    ran_in_full(rig, RefreshOutcome.OTHER_COLUMNS)


def test_a_text_that_takes_too_long_to_read_runs_in_full() -> None:
    rig = RefreshRig(calls=NoTime())
    long = f"{SQL} WHERE {' AND '.join(['paid > 1'] * 40)}"
    rig.knows(long, SALES)
    ran_in_full(rig, RefreshOutcome.TOO_COMPLEX, long)


def test_a_small_fact_runs_in_full_until_it_has_grown() -> None:
    rig = RefreshRig(refresh_bounds=RefreshBounds(min_table_bytes=11))
    assert said(rig.ran()) == "ran in full: SMALL_TABLE"
    rig.bench.catalogs.append(SALES, 10)
    rig.script_full()
    assert said(rig.ran()) == "ran in full, and its groups are kept"


def test_a_fact_that_cannot_be_pinned_runs_in_full(rig: RefreshRig) -> None:
    rig.change(snapshot_schema_id=7)
    ran_in_full(rig, RefreshOutcome.NOT_PINNED)


def test_a_state_of_too_many_rows_is_not_kept(rig: RefreshRig) -> None:
    rig.script(state_rows(1), rig.read(), is_truncated=True)
    ran_in_full(rig, RefreshOutcome.STATE_TOO_LARGE)
    assert rig.refresher.use.entries == 0


def test_a_state_that_the_engine_does_not_take_is_not_kept() -> None:
    rig = RefreshRig(held=FakeHeldRows(max_bytes=1))
    rig.script_full()
    ran_in_full(rig, RefreshOutcome.STATE_TOO_LARGE)
    assert rig.refresher.use.entries == 0


def test_a_sum_that_may_overflow_on_the_way_is_left_to_the_engine(rig: RefreshRig) -> None:
    with_state(rig).script_delta(-1, without_signs=2**63)
    ran_in_full(rig, RefreshOutcome.MAY_OVERFLOW)


def test_a_table_that_moves_while_it_is_read_runs_in_full(rig: RefreshRig) -> None:
    rig.script(state_rows(1), rig.read(snapshot_id=9, metadata_location="memory:/newer"))
    ran_in_full(rig, RefreshOutcome.CHANGED_WHILE_READ)
    assert rig.refresher.use.entries == 0


@pytest.mark.parametrize("failure", [QueryFailed("No."), EngineLost("Gone.")])
def test_a_failure_of_the_engine_is_not_the_callers(rig: RefreshRig, failure: Exception) -> None:
    rig.bench.engine.outcomes.append(failure)
    ran_in_full(rig, RefreshOutcome.ENGINE_FAILED)


def test_after_a_while_there_is_another_try(rig: RefreshRig) -> None:
    rig.bench.engine.outcomes.append(QueryFailed("No."))
    ran_in_full(rig, RefreshOutcome.ENGINE_FAILED)
    rig.bench.clock.advance(timedelta(milliseconds=REFUSED_FOR_MS))
    rig.bench.catalogs.append(SALES, 1)
    rig.script_full()
    assert said(rig.ran()) == "ran in full, and its groups are kept"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda rig: rig.commit("overwrite"), RefreshOutcome.NOT_APPENDED),
        (lambda rig: rig.commit("delete"), RefreshOutcome.NOT_APPENDED),
        (lambda rig: rig.commit("replace"), RefreshOutcome.NOT_APPENDED),
        (lambda rig: rig.change(snapshots=rig.facts_now().snapshots[:1]), RefreshOutcome.HISTORY_GONE),
        (lambda rig: rig.change(snapshot_schema_id=1, schema_id=1), RefreshOutcome.SCHEMA_CHANGED),
    ],
    ids=["overwrite", "delete", "replace", "expired", "new column"],
)
def test_after_another_change_the_groups_are_made_again(
    rig: RefreshRig, change: Callable[[RefreshRig], None], reason: RefreshOutcome
) -> None:
    with_state(rig)
    rig.bench.catalogs.append(SALES, 1)
    change(rig)
    rig.knows(SQL, SALES)
    rig.script_full(8)
    query = rig.ran()
    assert refreshed(query) is None
    assert rig.held.taken[-1].column("__a0").to_pylist() == [8]
    assert rig.outcomes()[reason] == 1


def test_after_a_change_of_another_table_the_groups_are_made_again(rig: RefreshRig) -> None:
    sql = "SELECT sum(sales.paid) FROM sales JOIN item ON sales.paid = item.paid"
    source = sql.removeprefix("SELECT sum(sales.paid) ")
    probe = f"SELECT min(sales.paid) AS __p0, sum(sales.paid) AS __p1 {source}"
    rig.bench.catalogs.append(SALES, 100)
    rig.knows(sql, SALES, ITEM)
    rig.describer.columns |= {sql: RESULT, probe: TYPES}
    for reason in (RefreshOutcome.STATE_KEPT, RefreshOutcome.OTHER_TABLE_CHANGED):
        rig.script(state_rows(1), rig.read(SALES), rig.read(ITEM))
        assert refreshed(rig.ran(sql)) is None
        assert rig.outcomes()[reason] == 1
        rig.bench.catalogs.append(ITEM, 1)


# ---- policies -------------------------------------------------------------------------------------


def access(*tables: TableName, where: str | None = None, mask: str | None = None) -> Access:
    grants = tuple(Grant("r", Action.SELECT, TablePattern.parse(str(table))) for table in tables)
    pattern = TablePattern.parse(str(SALES))
    filters = () if where is None else (RowFilter("r", pattern, where),)
    masks = () if mask is None else (ColumnMask("r", pattern, "paid", mask),)
    return RoleAccess(CompiledPolicies(PolicySet(1, grants, filters, masks, ())), frozenset({"r"}))


@pytest.mark.parametrize(
    "other",
    [
        access(SALES, where="paid > 1"),
        access(SALES, where="paid > 2"),
        access(SALES, mask="NULL"),
        access(SALES, where="paid > 1", mask="NULL"),
    ],
    ids=["a filter", "another filter", "a mask", "both"],
)
def test_a_state_is_for_nobody_who_sees_other_rows(rig: RefreshRig, other: Access) -> None:
    with_state(rig)
    rig.script_full(3)
    query = rig.ran(access=other, caller="bob")
    assert refreshed(query) is None
    assert rig.held.taken[-1].column("__a0").to_pylist() == [3]
    rig.bench.catalogs.append(SALES, 1)
    rig.script_delta(1)
    assert refreshed(rig.ran(access=other, caller="bob")) == Reused(query.query_id, 0, ReuseKind.REFRESHED)
    assert rig.held.taken[-1].column("__a0").to_pylist() == [3, 1]
    rig.script_delta(2)
    assert refreshed(rig.ran()) is not None
    assert rig.held.taken[-1].column("__a0").to_pylist() == [5, 2]
    assert rig.refresher.use.entries == 2


def test_callers_of_equal_policy_share_a_state(rig: RefreshRig) -> None:
    rig.script_full(3)
    rig.ran(access=access(SALES, where="paid > 1"))
    rig.bench.catalogs.append(SALES, 1)
    rig.script_delta(1)
    assert refreshed(rig.ran(access=access(SALES, ITEM, where="paid > 1"), caller="bob")) is not None


def test_a_caller_without_the_grant_learns_nothing(rig: RefreshRig) -> None:
    with_state(rig)
    query = rig.ran(access=access(ITEM), caller="bob")
    assert refreshed(query) is None
    assert rig.texts() == [SQL]
    assert all(run.access is query.access for run in rig.bench.engine.runs)


def test_every_statement_has_the_rights_of_its_caller(rig: RefreshRig) -> None:
    rights = access(SALES, where="paid > 1")
    rig.script_full()
    rig.ran(access=rights, caller="bob")
    assert [(run.access, run.caller) for run in rig.bench.engine.runs] == [(rights, "bob")] * 2
    assert all(asked.access is rights for asked in rig.describer.asked)
