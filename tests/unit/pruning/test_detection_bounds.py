"""Detection does bounded work for any text, and looks tables up as they are named."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

import pytest

from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.filter_record import Reason
from service.model.tables.tables import TableAt, TableFacts, TableName
from service.pruning.conditions.implied_conjuncts import MAX_BRANCHES
from service.pruning.detect import detect
from service.pruning.detection import Detection, DetectionContext
from service.pruning.filter_planner import MAX_BUILD_SIDES, MAX_SETS
from service.pruning.name_resolution.is_supported_syntax import MAX_JOINS
from service.pruning.name_resolution.qualify import qualify
from service.pruning.sql_text.parse import parse
from tests.unit.pruning.tables import TABLES


def detection(sql: str, tables: Mapping[TableAt, TableFacts] = TABLES) -> Detection | None:
    parsed = parse(sql)
    assert parsed is not None
    tree = qualify(parsed.tree, TABLES, "lake", "shop")
    return None if tree is None else detect(tree, DetectionContext(tables, {}, {}, max_build_rows=1_000))


def star(dimensions: int) -> str:
    """Returns a query in which every relation is partitioned by the one key and has a filter of its own."""
    names = [f"d{number}" for number in range(dimensions)]
    conditions = [f"f.day_key = {name}.day_key AND {name}.note = '{name}'" for name in names]
    tables = ", ".join(f"sales {name}" for name in names)
    return f"SELECT 1 FROM sales f, {tables} WHERE {' AND '.join(conditions)}"


def test_a_text_cannot_ask_for_any_number_of_sets() -> None:
    found = detection(star(MAX_JOINS))
    assert found is not None
    assert len({assignment.filter.fingerprint for assignment in found.assignments}) == MAX_SETS
    assert {filter_record.reason for filter_record in found.rejected} == {Reason.NOT_WORTH_COLLECTING}


def test_relations_of_one_key_are_not_all_asked_for_each_other() -> None:
    names = [f"f{number}" for number in range(40)]
    keys = " AND ".join(f"f0.day_key = {name}.day_key AND {name}.note = 'a'" for name in names[1:])
    found = detection(f"SELECT 1 FROM {', '.join(f'sales {name}' for name in names)} WHERE {keys}")
    assert found is not None
    assert 0 < len(found.assignments) <= MAX_BUILD_SIDES < 40 * 39
    assert {filter_record.reason for filter_record in found.rejected} == {Reason.NOT_WORTH_COLLECTING}


def test_what_all_of_very_many_branches_say_is_not_looked_for() -> None:
    def assignments(branches: int) -> int:
        years = " OR ".join(
            f"(f.day_key = d.day_key AND d.year = {2000 + number})" for number in range(branches)
        )
        found = detection(f"SELECT 1 FROM sales f, calendar d WHERE {years}")
        assert found is not None
        return len(found.assignments)

    assert (assignments(MAX_BRANCHES), assignments(MAX_BRANCHES + 1)) == (1, 0)


def test_a_select_of_too_many_relations_is_left_alone() -> None:
    assert detection(star(MAX_JOINS + 1)) is None


def test_keys_are_asked_from_the_table_as_its_catalog_spells_it() -> None:
    calendar = TableAt(TableName("lake", "shop", "calendar"))
    spelled = replace(TABLES[calendar], name=TableName("lake", "Shop", "Calendar"))
    found = detection(
        "SELECT 1 FROM sales f JOIN calendar d ON f.day_key = d.day_key WHERE d.year = 2000",
        {**TABLES, calendar: spelled},
    )
    assert found is not None
    assert "FROM `lake`.`Shop`.`Calendar` VERSION AS OF 3" in found.assignments[0].filter.filtering_query


def test_who_wants_keys_whatever_they_cost_has_no_large_table_in_memory() -> None:
    sql = "SELECT f.note FROM sales f JOIN calendar d ON f.day_key = d.day_key WHERE d.year = 2000"
    parsed = parse(sql)
    assert parsed is not None
    tree = qualify(parsed.tree, TABLES, "lake", "shop")
    assert tree is not None
    bounds = DetectionContext(TABLES, {}, {}, max_build_rows=sys.maxsize, max_fetched_rows=99)
    found = detect(tree, bounds)
    assert (len(found.assignments), found.relations) == (1, ())
    assert detect(tree, replace(bounds, max_fetched_rows=100)).relations


def test_keys_with_and_without_their_null_are_never_one_set() -> None:
    sql = (
        "SELECT s.note FROM sales s JOIN calendar c ON s.day_key {} TRY_CAST(c.name AS INT)"
        " WHERE lower(c.name) >= 'a'{}"
    )
    found = [detection(sql.format(*pair)) for pair in (("<=>", " AND c.name IS NOT NULL"), ("=", ""))]
    fingerprints = [
        detection.assignments[0].filter.fingerprint for detection in found if detection is not None
    ]
    assert len(set(fingerprints)) == 2


def test_conditions_in_another_order_choose_the_same_keys() -> None:
    sql = "SELECT f.note FROM sales f JOIN calendar d ON f.day_key = d.day_key WHERE {} AND {}"
    conditions = ("d.year <> 0", "10 / d.year > 1")
    found = [detection(sql.format(*pair)) for pair in (conditions, conditions[::-1])]
    filters = [detection.assignments[0].filter for detection in found if detection is not None]
    assert len({filter_.filtering_query for filter_ in filters}) == 2
    assert len({filter_.fingerprint for filter_ in filters}) == 1


def _only_filter(sql: str, snapshot_id: int = 77, table_uuid: int = 1) -> DynamicFilter:
    calendar = TableName("lake", "shop", "calendar")
    tables = {
        at: replace(facts, snapshot_id=snapshot_id, table_uuid=UUID(int=table_uuid))
        if at.name == calendar
        else facts
        for at, facts in TABLES.items()
    }
    found = detection(sql, tables)
    assert found is not None
    [assignment] = found.assignments
    return assignment.filter


SERIES = [
    "SELECT f.note FROM sales f JOIN calendar d ON f.day_key = d.day_key WHERE d.year = 2000",
    "SELECT f.note FROM sales f JOIN calendar d ON f.day_key = d.day_key WHERE d.year = 2001",
    "SELECT f.note FROM sales f JOIN calendar d ON f.day_key <=> d.day_key WHERE d.year = 2000",
    "SELECT s.note FROM sales s JOIN calendar c ON s.day_key = TRY_CAST(c.name AS INT) WHERE c.year = 2000",
    "SELECT f.note FROM sales f JOIN calendar d ON f.day_key = d.day_key"
    " WHERE d.year = (SELECT max(year) FROM calendar)",
]


@pytest.mark.parametrize("sql", SERIES, ids=range(len(SERIES)))
def test_filters_that_differ_only_in_snapshots_are_of_one_series(sql: str) -> None:
    first, second = _only_filter(sql, snapshot_id=77), _only_filter(sql, snapshot_id=78)
    assert first.fingerprint != second.fingerprint
    assert first.series == second.series != ""
    # A table of the same name that was created again has other rows.
    other = _only_filter(sql, snapshot_id=78, table_uuid=99)
    assert other.series != first.series


def test_filters_of_other_keys_are_of_other_series() -> None:
    assert len({_only_filter(sql).series for sql in SERIES}) == len(SERIES)


@pytest.mark.parametrize(("table", "other"), [("sales", "calendar"), ("calendar", "sales")])
def test_unions_that_double_with_each_step_are_looked_through_once(table: str, other: str) -> None:
    steps = [f"c0 AS (SELECT day_key FROM {table} WHERE day_key < 9)"]
    for step in range(1, 60):
        branch = f"SELECT day_key FROM c{step - 1}"
        steps.append(f"c{step} AS ({branch} UNION ALL {branch})")
    # Nothing reads the last step, so the engine would not evaluate any of the steps.
    steps.append(f"unused AS (SELECT 1 FROM c59 AS r JOIN {other} AS o ON r.day_key = o.day_key)")
    found = detection(
        f"WITH {', '.join(steps)}"
        " SELECT 1 FROM sales f JOIN calendar d ON f.day_key = d.day_key WHERE d.year = 2000"
    )
    assert found is not None
    assert [assignment.filter.probe.table.table for assignment in found.assignments] == ["sales"]
