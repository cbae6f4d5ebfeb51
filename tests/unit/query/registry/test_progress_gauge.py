"""How far a query is, as its caller sees it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.model.policies.actions import Action
from service.model.policies.decisions import (
    FULL_ACCESS,
    Access,
    Allowed,
    Decision,
    Definer,
    Refused,
    SchemaSight,
)
from service.model.query.progress import EngineProgress, Phase, QueryProgress, ScanProgress
from service.model.tables.restrictions import Restriction
from service.model.tables.tables import TableName
from service.query.registry.progress_gauge import MOST, ProgressGauge, percent_of

RETURNS = ScanProgress("lake.shop.returns", rows=500, files_read=2, data_files=9, data_bytes=900)
ITEM = ScanProgress("lake.shop.item", rows=7, files_read=1, data_files=1, data_bytes=70)
HALF = EngineProgress(
    stages_completed=0,
    stages_total=1,
    stages_planned=1,
    tasks_completed=5,
    tasks_running=2,
    tasks_total=9,
    rows=507,
    scans=(RETURNS, ITEM),
    is_whole=True,
)


class RowsHidden:
    """Hides rows of some tables; others may not be read."""

    def __init__(self, *hidden: str, refused: str = "") -> None:
        self._hidden = hidden
        self._refused = refused

    def decide(self, action: Action, table: TableName) -> Decision:
        if str(table) == self._refused:
            return Refused(action, table)
        return Allowed(Restriction(row_filter="id = 1")) if str(table) in self._hidden else Allowed()

    def administers_all(self) -> bool:
        return False

    def definer_of(self, view: TableName) -> Definer | None:  # noqa: ARG002
        return None

    def sight_of(self, catalog: str, schema: str) -> SchemaSight:  # noqa: ARG002
        return SchemaSight.SHOWN

    def knows_catalog(self, catalog: str) -> bool:  # noqa: ARG002
        return True


def shown(access: Access, found: EngineProgress = HALF) -> QueryProgress:
    return ProgressGauge(access).shown(found)


def test_a_query_plans_first_and_the_last_counters_stay() -> None:
    gauge = ProgressGauge(FULL_ACCESS)
    planning = gauge.shown(None)
    assert (planning.phase, planning.percent, planning.counters) == (Phase.PLANNING, 0, EngineProgress())
    gauge.enter(Phase.RUNNING)
    assert gauge.shown(HALF).percent == 55
    gauge.enter(Phase.WRITING)
    writing = gauge.shown(None)
    assert (writing.phase, writing.percent, writing.scans) == (Phase.WRITING, 55, (RETURNS, ITEM))
    assert writing.counters == replace(HALF, scans=())


def test_a_second_run_of_the_query_does_not_take_the_percentage_back() -> None:
    gauge = ProgressGauge(FULL_ACCESS)
    gauge.shown(HALF)
    again = gauge.shown(replace(HALF, tasks_completed=0))
    assert again.counters is not None
    assert (again.percent, again.counters.tasks_completed) == (55, 0)


counters = st.builds(
    EngineProgress,
    stages_total=st.integers(0, 9),
    stages_planned=st.integers(0, 20),
    tasks_completed=st.integers(0, 500),
    tasks_total=st.integers(0, 500),
)


@given(st.lists(counters, max_size=8))
def test_the_percentage_never_falls_and_is_never_whole(found: list[EngineProgress]) -> None:
    gauge = ProgressGauge(FULL_ACCESS)
    seen = [gauge.shown(each).percent for each in found]
    assert seen == sorted(seen)
    assert all(0 <= percent <= MOST for percent in seen)


def test_stages_that_are_only_announced_hold_the_percentage_back() -> None:
    scanned = EngineProgress(tasks_completed=1000, tasks_total=1000, stages_total=1, stages_planned=2)
    assert percent_of(scanned) == 99
    assert percent_of(replace(scanned, tasks_completed=2, tasks_total=2)) == 50
    assert percent_of(EngineProgress()) == 0


@pytest.mark.parametrize(
    "access",
    [RowsHidden("lake.shop.returns"), RowsHidden(refused="lake.shop.returns")],
    ids=["rows hidden", "read by a view's definer"],
)
def test_numbers_that_would_show_hidden_rows_are_left_out(access: Access) -> None:
    seen = shown(access)
    assert (seen.counters, seen.percent) == (None, 50)
    assert seen.scans == (ScanProgress("lake.shop.returns"), ITEM)


def test_without_hidden_rows_all_numbers_are_shown() -> None:
    seen = shown(RowsHidden("lake.hr.salaries"))
    assert seen.counters == replace(HALF, scans=())
    assert (seen.percent, seen.scans) == (55, (RETURNS, ITEM))


@pytest.mark.parametrize(
    "found",
    [replace(HALF, is_whole=False), replace(HALF, scans=(ScanProgress(None, rows=3),))],
    ids=["not all scans are known", "a scan has no name"],
)
def test_what_might_read_hidden_rows_is_left_out_too(found: EngineProgress) -> None:
    assert shown(RowsHidden(), found).counters is None
    assert shown(FULL_ACCESS, found).counters == replace(found, scans=())
