from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.model.tables.tables import Snapshot, TableFacts, TableName
from service.query.refresh.growth import check_growth
from tests.fakes.catalogs import facts_of_empty_table

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def table(*operations: str | None, current: int | None = None) -> TableFacts:
    """Returns a table whose snapshots are 1, 2, … with these operations, each the child of the one before."""
    snapshots = tuple(
        Snapshot(number, number - 1 or None, NOON, operation)
        for number, operation in enumerate(operations, 1)
    )
    facts = facts_of_empty_table(TableName("lake", "shop", "sales"))
    return replace(facts, snapshots=snapshots, snapshot_id=current or len(snapshots) or None)


def outcome(facts: TableFacts, since: int) -> RefreshOutcome:
    with pytest.raises(NotRefreshable) as failure:
        check_growth(facts, since)
    return failure.value.reason


def test_appends_are_growth() -> None:
    check_growth(table("append", "append", "append"), 1)
    check_growth(table("overwrite", "append"), 1)
    check_growth(table("append"), 1)


@pytest.mark.parametrize("operation", ["overwrite", "delete", "replace", None])
def test_other_commits_are_not(operation: str | None) -> None:
    assert outcome(table("append", operation, "append"), 1) is RefreshOutcome.NOT_APPENDED


def test_the_history_must_lead_back_to_the_snapshot() -> None:
    assert outcome(table("append", "append", current=1), 2) is RefreshOutcome.HISTORY_GONE
    assert outcome(table("append", "append"), 7) is RefreshOutcome.HISTORY_GONE
    expired = table("append", "append", "append")
    expired = replace(
        expired, snapshots=tuple(found for found in expired.snapshots if found.snapshot_id != 2)
    )
    assert outcome(expired, 1) is RefreshOutcome.HISTORY_GONE
    assert outcome(replace(table(), snapshot_id=None), 1) is RefreshOutcome.HISTORY_GONE


def test_a_history_in_a_circle_ends() -> None:
    facts = table("append", "append")
    circle = (replace(facts.snapshots[0], parent_id=2), facts.snapshots[1])
    assert outcome(replace(facts, snapshots=circle), 7) is RefreshOutcome.HISTORY_GONE
