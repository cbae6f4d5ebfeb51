from dataclasses import replace

import pytest

from service.model.filtering import (
    Build,
    FilterForm,
    FilterRecord,
    FilterSource,
    JoinType,
    Probe,
    Reason,
)
from service.model.tables import PartitionField, TableSource
from service.pruning.covers_native_pruning import covers_native_pruning
from tests.unit.pruning.tables import TABLES

SALES = replace(
    next(each for each in TABLES.values() if each.name.table == "sales"),
    partition_fields=(PartitionField("day_key", "day_key", "identity"),),
)


def unapplied(column: str, reason: Reason) -> FilterRecord:
    probe = Probe(SALES.name, (column,), ("int",), 1)
    source, form = FilterSource.NONE, FilterForm.NONE
    return FilterRecord("", JoinType.INNER, probe, Build((), (), "", ()), source, form, reason)


def test_a_partition_column_that_is_narrowed_at_each_mention_needs_no_more() -> None:
    assert covers_native_pruning([(10, SALES), (20, SALES)], {(10, "day_key"), (20, "day_key")}, [])
    assert not covers_native_pruning([(10, SALES), (20, SALES)], {(10, "day_key")}, [])


@pytest.mark.parametrize(
    ("column", "reason", "is_covered"),
    [
        ("day_key", Reason.COLLECT_TIMED_OUT, False),
        ("day_key", Reason.NOT_WORTH_COLLECTING, False),
        ("day_key", Reason.BUILD_HAS_NO_FILTER, True),
        ("item_key", Reason.PROBE_NOT_PRUNABLE, True),
    ],
)
def test_another_join_on_that_column_may_prune_further(column: str, reason: Reason, is_covered: bool) -> None:
    found = covers_native_pruning([(10, SALES)], {(10, "day_key")}, [unapplied(column, reason)])
    assert found is is_covered


def test_what_lies_behind_a_view_is_the_engines_to_prune() -> None:
    view = replace(SALES, source=TableSource.OTHER, partition_fields=())
    assert not covers_native_pruning([(10, view)], (), [])
