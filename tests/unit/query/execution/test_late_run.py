"""A query that has begun without keys, which come while the engine runs it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from service.errors.query_errors import QueryFailed
from service.model.filters.filter_record import FilterRecord, Reason
from service.model.filters.key_set import FilterForm, FilterSource
from service.model.query.query import QueryState
from service.model.query.verification import Verification
from service.ports.engine.late_filters import LateFilter, LateUse
from service.ports.engine.query_engine import EngineResult, Statement
from tests.fakes.engine import FakeEngine, engine_result
from tests.unit.query.execution.test_pruned_run import KEYS, SQL, PrunedRun

PINNED = (
    "SELECT f.note FROM lake.shop.sales VERSION AS OF 1 AS f JOIN lake.shop.calendar VERSION AS OF 3 AS d"
    " ON f.day_key = d.day_key WHERE d.year = 2000"
)


@dataclass
class Running:
    """How late filters end in one run: as `use` says, if their keys have come by the end."""

    use: LateUse | None
    comes: bool = True
    conditions: list[str | None] = field(default_factory=list)


class LateEngine(FakeEngine):
    """The keys come while it runs a statement with late filters."""

    def __init__(self, running: Running, *outcomes: EngineResult | Exception) -> None:
        super().__init__(*outcomes)
        self._running = running
        self.pruned_run: PrunedRun | None = None

    def run(self, statement: Statement) -> EngineResult:
        result = super().run(statement)
        if self._running.comes and self.pruned_run is not None:
            self.pruned_run.executor.catch_up()
        return replace(result, late_uses=dict(self._uses(statement.late_filters)))

    def _uses(self, late: tuple[LateFilter, ...]) -> list[tuple[str, LateUse]]:
        come = [filter_ for filter_ in late if filter_.condition.done()]
        self._running.conditions += [filter_.condition.result() for filter_ in come]
        use = self._running.use
        return [] if use is None else [(filter_.filter_id, use) for filter_ in come]


def late_run(running: Running, *outcomes: EngineResult | Exception, takes_late: bool = True) -> PrunedRun:
    engine = LateEngine(running, *outcomes)
    engine.pruned_run = PrunedRun(late=(0,), engine=engine, takes_late=takes_late)
    return engine.pruned_run


def candidate(pruned_run: PrunedRun, sql: str = SQL, is_verified: bool = False) -> FilterRecord:
    query = pruned_run.ran(sql=sql, is_verified=is_verified)
    assert query.record.state is QueryState.SUCCEEDED
    [found] = [filter_ for filter_ in query.record.filters if filter_.is_candidate]
    return found


def test_a_filter_that_comes_before_its_scan_begins_is_used() -> None:
    running = Running(LateUse.USED)
    pruned_run = late_run(running)
    found = candidate(pruned_run)
    assert (found.reason, found.source, found.form) == (
        Reason.APPLIED,
        FilterSource.ARRIVED_LATE,
        FilterForm.IN,
    )
    assert (found.value_count, found.probe.alias, found.probe.table_reference) == (2, "f", 1)
    assert running.conditions == ["`day_key` IN (3, 9)"]
    assert [run.sql for run in pruned_run.engine.runs] == [PINNED]


def test_a_filter_that_comes_after_its_scan_has_begun_is_too_late() -> None:
    found = candidate(late_run(Running(LateUse.TOO_LATE)))
    assert (found.reason, found.source, found.form) == (
        Reason.ARRIVED_TOO_LATE,
        FilterSource.NONE,
        FilterForm.NONE,
    )


def test_a_filter_that_never_comes_has_timed_out() -> None:
    found = candidate(late_run(Running(LateUse.USED, comes=False)))
    assert (found.reason, found.source) == (Reason.COLLECT_TIMED_OUT, FilterSource.NONE)


def test_keys_that_come_late_are_there_for_the_next_query() -> None:
    pruned_run = late_run(Running(LateUse.TOO_LATE))
    candidate(pruned_run)
    again = candidate(pruned_run)
    assert (again.reason, again.source) == (Reason.APPLIED, FilterSource.CACHED)
    assert pruned_run.engine.runs[-1].late_filters == ()


def test_a_collection_that_fails_late_filters_nothing() -> None:
    running = Running(None)
    pruned_run = late_run(running, engine_result(), QueryFailed("no"))
    pruned_run.reader.forget(KEYS)
    assert candidate(pruned_run).reason is Reason.COLLECT_TIMED_OUT
    assert running.conditions == [None]


def test_no_key_at_all_is_left_to_the_engine() -> None:
    running = Running(None)
    pruned_run = late_run(running)
    pruned_run.reader.put(KEYS, ())
    assert candidate(pruned_run).reason is Reason.COLLECT_TIMED_OUT
    assert running.conditions == [None]


def test_without_the_setting_the_query_runs_as_written() -> None:
    pruned_run = late_run(Running(LateUse.USED), takes_late=False)
    assert candidate(pruned_run).reason is Reason.COLLECT_TIMED_OUT
    assert [(run.sql, run.late_filters) for run in pruned_run.engine.runs] == [(SQL, ())]


UNCERTAIN = {
    "the table is read twice": SQL.replace(
        " WHERE", " JOIN lake.shop.sales AS g ON g.item_key = f.item_key WHERE"
    ),
    "the table is read at another time, too": SQL.replace(
        " WHERE", " CROSS JOIN (SELECT count(*) FROM lake.shop.sales VERSION AS OF 1) WHERE"
    ),
    "a view that is not expanded may read the table": f"{SQL} AND f.item_key IN"
    " (SELECT v.item_key FROM lake.shop.some_view AS v)",
}


@pytest.mark.parametrize("sql", UNCERTAIN.values(), ids=UNCERTAIN.keys())
def test_a_scan_that_may_not_be_the_only_one_of_its_table_waits_for_no_filter(sql: str) -> None:
    pruned_run = late_run(Running(LateUse.USED))
    pruned_run.ran(sql=sql)
    assert [run.late_filters for run in pruned_run.engine.runs] == [()] * len(pruned_run.engine.runs)


def test_rows_of_a_late_filter_are_verified_with_those_of_the_same_snapshots() -> None:
    pruned_run = late_run(Running(LateUse.USED), *(engine_result(count) for count in (2, 3, 3)))
    query = pruned_run.ran(is_verified=True)
    assert query.record.verification is Verification.DIFFERENT
    assert {run.sql for run in pruned_run.engine.runs} == {PINNED}
    assert [len(run.late_filters) for run in pruned_run.engine.runs] == [1, 0, 0]
    assert pruned_run.reasons(pruned_run.ran()) == [Reason.DISABLED]
