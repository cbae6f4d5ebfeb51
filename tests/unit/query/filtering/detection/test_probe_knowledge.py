"""The values that a query knows of its tables' files: it waits once, bounded, and only for large tables."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from service.model.filters.column_values import ColumnValues, FileOverlap, NotKnown
from service.model.tables.tables import TableColumn, TableFacts, TableName
from service.query.filtering.detection.probe_knowledge import ProbeKnowledge
from tests.fakes.catalogs import facts_of_empty_table
from tests.fakes.clock import FakeClock
from tests.fakes.probe_values import FakeProbeValues

NAME = TableName("lake", "shop", "events")
COLUMNS = (TableColumn(1, "Id", "long", False, None), TableColumn(2, "note", "string", False, None))
FACTS = replace(facts_of_empty_table(NAME, COLUMNS), snapshot_id=7, data_file_count=50, total_bytes=1 << 30)
TIGHT = ColumnValues(None, 1, 9, is_clustered=True)
UNCLUSTERED = ColumnValues(None, 1, 9, is_clustered=False, overlap=FileOverlap(48, 50))


class SlowProbeValues(FakeProbeValues):
    """Probe values that use up all the time they are given."""

    def __init__(self, clock: FakeClock) -> None:
        super().__init__()
        self.is_slow = True
        self.waited: list[float] = []
        self._clock = clock

    def of(
        self, table: TableName, snapshot_id: int | None, column: str, within_s: float = 0.0
    ) -> ColumnValues | NotKnown:
        self.waited.append(within_s)
        self._clock.advance(timedelta(seconds=within_s))
        return super().of(table, snapshot_id, column, within_s)


def known(values: FakeProbeValues, clock: FakeClock | None = None, least: int = 0) -> ProbeKnowledge:
    return ProbeKnowledge(values, clock or FakeClock(), within_ms=500, min_table_bytes=least)


@pytest.mark.parametrize(
    ("column_values", "is_clustered", "said"),
    [
        (TIGHT, True, ""),
        (UNCLUSTERED, False, "48 of 50 files overlap"),
        (NotKnown.UNAVAILABLE, False, "the metadata of its files does not say"),
    ],
)
def test_the_first_query_knows_what_the_files_hold(
    column_values: ColumnValues | NotKnown, is_clustered: bool, said: str
) -> None:
    values = FakeProbeValues()
    values.put(NAME, 7, "Id", column_values)
    knowledge = known(values)
    assert knowledge.is_clustered(FACTS, "Id") is is_clustered
    assert knowledge.clustering(FACTS, "Id") == said
    assert knowledge.pending == ()


def test_what_is_not_known_in_time_takes_keys_and_is_looked_at_again() -> None:
    clock = FakeClock()
    values = SlowProbeValues(clock)
    values.put(NAME, 7, "Id", UNCLUSTERED)
    late = known(values, clock)
    assert late.is_clustered(FACTS, "Id")
    assert late.is_clustered(FACTS, "note")
    assert late.pending == ((NAME, 7, "Id"), (NAME, 7, "note"))
    assert values.waited == [0.5, 0.0]
    assert not known(values, clock).has_news(late.pending)
    values.settle()
    later = known(values, clock)
    assert later.has_news(late.pending)
    assert not later.is_clustered(FACTS, "Id")


def test_an_earlier_snapshot_decides_until_this_one_is_known() -> None:
    clock = FakeClock()
    values = SlowProbeValues(clock)
    values.put(NAME, 6, "Id", UNCLUSTERED)
    values.of(NAME, 6, "Id")
    values.settle()
    knowledge = known(values, clock)
    assert not knowledge.is_clustered(FACTS, "Id")
    assert knowledge.pending == ((NAME, 7, "Id"),)


def test_small_tables_are_not_waited_for() -> None:
    values = FakeProbeValues()
    values.put(NAME, 7, "Id", TIGHT)
    knowledge = known(values, least=2 << 30)
    knowledge.announce([FACTS], frozenset({"id", "note"}))
    assert values.asked == []
    assert not knowledge.is_clustered(FACTS, "Id")


@pytest.mark.parametrize("facts", [replace(FACTS, data_file_count=1), replace(FACTS, snapshot_id=None)])
def test_tables_of_one_file_or_no_snapshot_are_not_looked_at(facts: TableFacts) -> None:
    values = FakeProbeValues()
    assert not known(values).is_clustered(facts, "Id")
    assert values.asked == []


def test_compared_columns_are_announced_by_the_names_that_the_table_has() -> None:
    values = FakeProbeValues()
    known(values).announce([FACTS], frozenset({"id", "other"}))
    assert values.asked == [(NAME, 7, "Id")]
