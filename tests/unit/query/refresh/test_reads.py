from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

from service.model.query.reuse import PlanReads, TableRead
from service.model.tables.tables import TableName
from service.query.refresh.reads import as_read, has_read_pinned
from service.query.reuse.table_states import has_read
from tests.fakes.catalogs import facts_of_empty_table

SALES, DAYS = TableName("lake", "shop", "sales"), TableName("lake", "shop", "days")
FACTS = {
    name: replace(
        facts_of_empty_table(name), snapshot_id=7, snapshot_schema_id=0, schema_id=0, metadata_location="m7"
    )
    for name in (SALES, DAYS)
}


def read(name: TableName, **other: Any) -> TableRead:
    found = TableRead(name, FACTS[name].table_uuid, 0, "m9", 7, is_version=True)
    return replace(found, **other)


def is_right(*reads: TableRead, growing: TableName | None = None) -> bool:
    return has_read_pinned(PlanReads(reads), FACTS, (), growing)


def test_a_pinned_table_was_read_whatever_was_committed_since() -> None:
    assert is_right(read(SALES), read(DAYS))
    assert is_right(read(SALES, is_version=False, metadata_location="m7"))
    assert not is_right(read(SALES, snapshot_id=8))
    assert not is_right(read(SALES, is_version=False))
    assert not is_right(read(SALES, table_uuid=uuid4()))
    assert not is_right(read(SALES, table=TableName("lake", "shop", "other")))
    assert not has_read_pinned(None, FACTS, (), None)


def test_added_files_were_read_with_the_columns_of_now() -> None:
    added = read(SALES, is_version=False, has_options=True, snapshot_id=9)
    assert is_right(added, read(DAYS), growing=SALES)
    assert not is_right(replace(added, has_options=False), growing=SALES)
    assert not is_right(replace(added, schema_id=1), growing=SALES)
    assert not is_right(replace(added, is_version=True), growing=SALES)
    assert not is_right(added, growing=DAYS)


def test_keys_must_be_of_the_same_snapshots() -> None:
    reads = PlanReads((read(SALES),))
    assert has_read_pinned(reads, FACTS, FACTS.values(), None)
    moved = replace(FACTS[DAYS], snapshot_id=8)
    assert not has_read_pinned(reads, FACTS, (moved,), None)


def test_a_checked_result_counts_as_read_in_these_states() -> None:
    assert has_read(as_read(FACTS), FACTS, None)
