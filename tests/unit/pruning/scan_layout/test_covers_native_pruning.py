from dataclasses import replace

import pytest

from service.model.filters.dynamic_filter import Build, JoinType, Probe
from service.model.filters.filter_record import FilterRecord, Reason
from service.model.filters.key_set import FilterForm, FilterSource
from service.model.tables.tables import PartitionField, TableName, TableSource
from service.pruning.detect import detect
from service.pruning.detection import Detection, DetectionContext
from service.pruning.name_resolution.qualify import qualify
from service.pruning.scan_layout.covers_native_pruning import covers_native_pruning
from service.pruning.sql_text.parse import parse
from tests.unit.pruning.tables import TABLES

SALES = replace(
    next(table for table in TABLES.values() if table.name.table == "sales"),
    partition_fields=(PartitionField("day_key", "day_key", "identity"),),
)


CALENDAR = TableName("lake", "shop", "calendar")


def unapplied(column: str, reason: Reason, *build_tables: TableName) -> FilterRecord:
    probe = Probe(SALES.name, (column,), ("int",), 1)
    source, form = FilterSource.NONE, FilterForm.NONE
    return FilterRecord("", JoinType.INNER, probe, Build(build_tables, (), "", ()), source, form, reason)


def test_a_partition_column_that_is_pruned_at_each_reference_needs_no_more() -> None:
    assert covers_native_pruning(
        [(10, SALES), (20, SALES)], {(10, "day_key"): True, (20, "day_key"): True}, []
    )
    not_all = {(10, "day_key"): True, (20, "day_key"): False}
    assert not covers_native_pruning([(10, SALES), (20, SALES)], not_all, [])


def test_a_partition_column_that_nothing_is_joined_by_needs_none() -> None:
    assert covers_native_pruning([(10, SALES)], {}, [])
    joined_by_nothing, not_seen = unapplied("", Reason.NO_EQUI_JOIN), unapplied("", Reason.NOT_A_QUERY)
    assert covers_native_pruning([(10, SALES)], {}, [], [joined_by_nothing])
    assert not covers_native_pruning([(10, SALES)], {}, [], [not_seen])


@pytest.mark.parametrize(
    ("column", "reason", "is_covered"),
    [
        ("day_key", Reason.COLLECT_TIMED_OUT, False),
        ("day_key", Reason.NOT_WORTH_COLLECTING, False),
        ("day_key", Reason.KEY_IS_COMPUTED, False),
        ("day_key", Reason.BUILD_NOT_DETERMINISTIC, False),
        ("item_key", Reason.PROBE_NOT_PRUNABLE, True),
    ],
)
def test_another_join_on_that_column_may_prune_further(column: str, reason: Reason, is_covered: bool) -> None:
    found = covers_native_pruning([(10, SALES)], {(10, "day_key"): True}, [unapplied(column, reason)])
    assert found is is_covered


def test_a_join_without_any_condition_prunes_nothing() -> None:
    no_filter = unapplied("day_key", Reason.BUILD_HAS_NO_FILTER, CALENDAR)
    assert covers_native_pruning([(10, SALES)], {(10, "day_key"): True}, [no_filter])


def test_a_join_without_any_condition_may_get_one_from_an_outer_select() -> None:
    no_filter = unapplied("day_key", Reason.BUILD_HAS_NO_FILTER, CALENDAR)
    filtered = {(10, "day_key"): True}
    assert not covers_native_pruning([(10, SALES)], filtered, [no_filter], has_filters_outside=True)


def test_a_derived_table_without_a_filter_that_gives_keys_may_have_another() -> None:
    of_a_derived_table = unapplied("day_key", Reason.BUILD_HAS_NO_FILTER)
    assert not covers_native_pruning([(10, SALES)], {(10, "day_key"): True}, [of_a_derived_table])


@pytest.mark.parametrize(
    "join",
    [
        "item AS e ON f.day_key = e.item_key + e.maker_key",
        "item AS e ON f.day_key + f.item_key = e.item_key",
        "(SELECT max(day_key) AS k FROM returns WHERE note = 'x') AS e ON f.day_key = e.k",
        "(SELECT day_key FROM calendar EXCEPT SELECT day_key FROM returns) AS e ON f.day_key = e.day_key",
        "(SELECT day_key FROM kinds INTERSECT SELECT day_key FROM returns) AS e ON f.day_key = e.day_key",
        "(SELECT day_key FROM calendar UNION SELECT day_key FROM kinds WHERE year = 1) AS e"
        " ON f.day_key = e.day_key",
    ],
)
def test_what_gives_no_keys_leaves_the_engine_to_prune(join: str) -> None:
    sql = f"SELECT f.note FROM sales AS f JOIN calendar AS d ON f.day_key = d.day_key JOIN {join}"
    sql += " WHERE d.year = 2000"
    found = detected(sql)
    assert next(assignment.filter.probe.columns for assignment in found.assignments) == ("day_key",)
    assert not covers_native_pruning([(10, SALES)], {(10, "day_key"): True}, found.rejected)


def detected(sql: str) -> Detection:
    parsed = parse(sql)
    assert parsed is not None
    tree = qualify(parsed.tree, TABLES, "lake", "shop")
    assert tree is not None
    return detect(tree, DetectionContext(TABLES, (), {}, max_build_rows=1000))


def test_what_lies_behind_a_view_is_the_engines_to_prune() -> None:
    view = replace(SALES, source=TableSource.OTHER, partition_fields=())
    assert not covers_native_pruning([(10, view)], {}, [])
