from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from service.model.filters.dynamic_filter import Build
from service.model.filters.relations import RelationQuery
from service.model.tables.tables import TableName
from service.pruning.detection import FilterAssignment
from service.pruning.rewrites.local_relations import RelationAssignment
from service.pruning.rows_with_keys import rows_with_keys
from tests.fakes.filters import date_filter

FILTER = date_filter()
PROBE_END, BUILD_END = 10, 20
PLACED = FilterAssignment(FILTER, PROBE_END)
ROWS = replace(FILTER.build, columns=(*FILTER.build.columns, "d_day_name"))
RELATION = RelationQuery(ROWS, "SELECT …", "rows")


def found(rows_of: Build = ROWS, end: int = BUILD_END, build: Build = FILTER.build) -> dict[str, str]:
    assignments = replace(PLACED, filter=replace(FILTER, build=build))
    relation = RelationAssignment(replace(RELATION, rows_of=rows_of), end)
    return {key: row.fingerprint for key, row in rows_with_keys([assignments], [relation]).items()}


def test_rows_that_have_the_keys_are_read_with_them() -> None:
    assert found() == {FILTER.fingerprint: "rows"}
    upper = replace(ROWS, columns=tuple(column.upper() for column in ROWS.columns))
    assert found(upper) == {FILTER.fingerprint: "rows"}


@pytest.mark.parametrize(
    "other",
    [
        {"tables": (TableName("lake", "tpcds", "item"),)},
        {"snapshot_ids": (8_888,)},
        {"predicate": "d_year = 1999"},
        {"columns": ("d_day_name",)},
    ],
    ids=["of another table", "of another snapshot", "under another condition", "without the keys"],
)
def test_other_rows_are_not(other: dict[str, Any]) -> None:
    assert found(replace(ROWS, **other)) == {}


def test_keys_of_several_build_sides_are_in_no_rows() -> None:
    assert found(build=replace(FILTER.build, is_union=True)) == {}


def test_a_table_that_is_pruned_itself_is_read_from_its_files() -> None:
    assert found(end=PROBE_END) == {}
