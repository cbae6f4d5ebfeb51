"""The contract of `Catalogs`, for every implementation."""

from __future__ import annotations

import pytest

from service.errors.table_errors import TableAmbiguous, TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.operations.health import PartHealth, PartState
from service.model.tables.tables import (
    PartitionField,
    SortField,
    TableAt,
    TableListing,
    TableName,
    TableVersion,
    VersionKind,
)
from tests.contract.catalogs.lakehouse import COLUMNS, Lakehouse
from tests.polling import until

EVENTS = TableName("lake", "logs", "events")


def test_an_empty_catalog_has_no_tables_and_nothing_nearest(lakehouse: Lakehouse) -> None:
    assert lakehouse.catalogs.tables().tables == ()
    assert list(lakehouse.catalogs.nearest("lake.logs.events")) == []
    with pytest.raises(TableNotFound) as raised:
        lakehouse.catalogs.facts(EVENTS)
    assert raised.value.nearest == ()


def test_tables_are_listed_in_order_of_name_over_all_schemas(lakehouse: Lakehouse) -> None:
    names = [EVENTS, TableName("lake", "logs", "alerts"), TableName("lake", "logs.raw.http", "events")]
    for name in names:
        lakehouse.create(name)
    assert lakehouse.catalogs.tables() == TableListing(tuple(sorted(names)))
    assert lakehouse.catalogs.tables("lake", "logs.raw.http").tables == (names[2],)
    assert lakehouse.catalogs.tables(schema="logs").tables == (names[1], EVENTS)
    assert lakehouse.catalogs.tables("lake", "nowhere").tables == ()
    assert lakehouse.catalogs.tables("other") == TableListing(())
    assert lakehouse.catalogs.facts(names[2]).name == names[2]


def test_a_table_without_a_snapshot_counts_nothing(lakehouse: Lakehouse) -> None:
    lakehouse.create(EVENTS)
    facts = lakehouse.catalogs.facts(EVENTS)
    assert (facts.snapshot_id, facts.snapshots) == (None, ())
    assert (facts.record_count, facts.data_file_count, facts.total_bytes) == (0, 0, 0)
    assert (facts.format_version, facts.columns, facts.partition_fields) == (2, COLUMNS, ())
    assert facts.sort_fields == ()


def test_partition_fields_name_their_source_and_transform(lakehouse: Lakehouse) -> None:
    fields = (
        PartitionField("log_type", "log_type", "identity"),
        PartitionField("id_bucket", "id", "bucket[8]"),
        PartitionField("happened_day", "happened_at", "day"),
        PartitionField("log_type_prefix", "log_type", "truncate[4]"),
    )
    lakehouse.create(EVENTS, partition_fields=fields)
    assert lakehouse.catalogs.facts(EVENTS).partition_fields == fields


def test_sort_fields_name_their_source_direction_and_null_order(lakehouse: Lakehouse) -> None:
    fields = (
        SortField("happened_at", "identity", "desc", "nulls-last"),
        SortField("id", "bucket[4]", "asc", "nulls-first"),
    )
    lakehouse.create(EVENTS, sort_fields=fields)
    assert lakehouse.catalogs.facts(EVENTS).sort_fields == fields


def test_identifier_fields_are_those_of_the_schema(lakehouse: Lakehouse) -> None:
    others = TableName("lake", "logs", "others")
    lakehouse.create(EVENTS, identifier_fields=("id",))
    lakehouse.create(others)
    found = [lakehouse.catalogs.facts(name) for name in (EVENTS, others)]
    assert [(facts.identifier_fields, facts.key_columns) for facts in found] == [(("id",), ("id",)), ((), ())]


def test_a_commit_made_outside_is_seen_at_once(lakehouse: Lakehouse) -> None:
    lakehouse.create(EVENTS)
    before = lakehouse.catalogs.facts(EVENTS)
    lakehouse.append(EVENTS, 3)
    after = lakehouse.catalogs.facts(EVENTS)
    assert (after.record_count, after.data_file_count) == (3, 1)
    assert after.total_bytes > 0
    assert after.table_uuid == before.table_uuid
    assert [snapshot.operation for snapshot in after.snapshots] == ["append"]


def test_facts_of_several_tables_leave_out_what_is_not_there(lakehouse: Lakehouse) -> None:
    alerts = TableName("lake", "logs", "alerts")
    deep = TableName("lake", "logs.raw", "events")
    for table in (EVENTS, alerts, deep):
        lakehouse.create(table)
    unknown = [TableAt(TableName("lake", "logs", "evnts")), TableAt(TableName("other", "logs", "events"))]
    asked = [TableAt(EVENTS), *unknown, TableAt(alerts), TableAt(deep), TableAt(EVENTS)]
    expected = {TableAt(table): lakehouse.catalogs.facts(table) for table in (EVENTS, alerts, deep)}
    assert lakehouse.catalogs.facts_of(asked) == expected
    assert lakehouse.catalogs.facts_of(asked) == expected
    assert lakehouse.catalogs.facts_of([]) == {}
    assert lakehouse.catalogs.facts_of(unknown) == {}


def test_facts_of_several_tables_are_those_after_the_last_commit(lakehouse: Lakehouse) -> None:
    lakehouse.create(EVENTS)
    for commit in range(1, 4):
        lakehouse.append(EVENTS, 1)
        assert lakehouse.catalogs.facts_of([TableAt(EVENTS)])[TableAt(EVENTS)].record_count == commit


def test_facts_of_several_tables_leave_out_a_catalog_that_is_down(lakehouse: Lakehouse) -> None:
    lakehouse.create(EVENTS)
    assert list(lakehouse.catalogs.facts_of([TableAt(EVENTS)])) == [TableAt(EVENTS)]
    lakehouse.stop()
    assert lakehouse.catalogs.facts_of([TableAt(EVENTS)]) == {}
    lakehouse.start()
    # The catalog is omitted while it takes more than a second, as one that has just restarted may.
    found = until(lambda: lakehouse.catalogs.facts_of([TableAt(EVENTS)]))
    assert list(found) == [TableAt(EVENTS)]


def test_facts_of_a_version_are_those_of_its_snapshot(lakehouse: Lakehouse) -> None:
    lakehouse.create(EVENTS)
    for _ in range(2):
        lakehouse.append(EVENTS, 3)
    first = lakehouse.catalogs.facts(EVENTS).snapshots[1]
    at_ms = round(first.committed_at.timestamp() * 1000)
    asked = [
        TableAt(EVENTS, TableVersion(VersionKind.SNAPSHOT, first.snapshot_id)),
        TableAt(EVENTS, TableVersion(VersionKind.TIMESTAMP, at_ms)),
        TableAt(EVENTS, TableVersion(VersionKind.REF, "main")),
        TableAt(EVENTS, TableVersion(VersionKind.BRANCH, "main")),
        TableAt(EVENTS),
    ]
    found = lakehouse.catalogs.facts_of(asked)
    assert [found[table_at].record_count for table_at in asked] == [3, 3, 6, 6, 6]
    assert {found[table_at].snapshot_id for table_at in asked[:2]} == {first.snapshot_id}
    assert lakehouse.catalogs.facts_of(asked) == found


def test_facts_of_versions_leave_out_those_that_are_not_there(lakehouse: Lakehouse) -> None:
    lakehouse.create(EVENTS)
    lakehouse.append(EVENTS, 3)
    unknown = [
        TableAt(EVENTS, TableVersion(kind, value))
        for kind, value in (
            (VersionKind.SNAPSHOT, 1234567),
            (VersionKind.TIMESTAMP, 1),
            (VersionKind.REF, "nowhere"),
            (VersionKind.BRANCH, "nowhere"),
        )
    ]
    assert lakehouse.catalogs.facts_of(unknown) == {}


def test_a_name_that_is_a_table_s_own_is_no_version_of_another(lakehouse: Lakehouse) -> None:
    lakehouse.create(EVENTS)
    lakehouse.append(EVENTS, 3)
    deep = TableName("lake", "logs.events", "branch_main")
    branch = TableAt(EVENTS, TableVersion(VersionKind.BRANCH, "main"), unless=deep)
    assert list(lakehouse.catalogs.facts_of([branch])) == [branch]
    lakehouse.create(deep)
    assert lakehouse.catalogs.facts_of([branch]) == {}


@pytest.mark.parametrize("table", ["files", "SNAPSHOTS", "branch_main", "tag_x", "snapshot_id_1"])
def test_a_table_in_the_place_of_anothers_metadata_is_ambiguous(lakehouse: Lakehouse, table: str) -> None:
    planted, free = TableName("lake", "logs.events", table), TableName("lake", "logs.others", table)
    lakehouse.create(planted)
    lakehouse.create(free)
    both = [TableAt(planted), TableAt(free)]
    assert list(lakehouse.catalogs.facts_of(both)) == both
    lakehouse.create(EVENTS)
    with pytest.raises(TableAmbiguous, match=str(planted)):
        lakehouse.catalogs.facts(planted)
    assert lakehouse.catalogs.facts(free).name == free
    assert list(lakehouse.catalogs.facts_of(both)) == [TableAt(free)]


def test_the_newest_snapshot_comes_first(lakehouse: Lakehouse) -> None:
    lakehouse.create(EVENTS)
    for _ in range(3):
        lakehouse.append(EVENTS, 1)
    facts = lakehouse.catalogs.facts(EVENTS)
    newest, middle, oldest = facts.snapshots
    assert newest.snapshot_id == facts.snapshot_id
    assert (newest.parent_id, middle.parent_id, oldest.parent_id) == (
        middle.snapshot_id,
        oldest.snapshot_id,
        None,
    )
    assert newest.committed_at >= oldest.committed_at
    assert facts.record_count == 3


@pytest.mark.parametrize("typed", ["lake.logs.evnts", "logs.evnts", "EVNTS"])
def test_an_unknown_name_has_the_nearest_one(lakehouse: Lakehouse, typed: str) -> None:
    lakehouse.create(EVENTS)
    lakehouse.create(TableName("lake", "warehouse", "customer_address"))
    assert list(lakehouse.catalogs.nearest(typed)) == ["lake.logs.events"]


def test_a_table_that_is_not_found_says_what_was_perhaps_meant(lakehouse: Lakehouse) -> None:
    lakehouse.create(EVENTS)
    with pytest.raises(TableNotFound) as raised:
        lakehouse.catalogs.facts(TableName("lake", "logs", "evnts"))
    assert raised.value.detail == "There is no table lake.logs.evnts. Did you mean lake.logs.events?"
    with pytest.raises(TableNotFound):
        lakehouse.catalogs.facts(TableName("other", "logs", "events"))


def test_at_most_three_names_are_nearest(lakehouse: Lakehouse) -> None:
    for number in range(5):
        lakehouse.create(TableName("lake", "logs", f"events_{number}"))
    assert list(lakehouse.catalogs.nearest("events_9")) == [f"lake.logs.events_{n}" for n in range(3)]


def test_a_catalog_that_was_down_is_used_again_when_it_is_back(lakehouse: Lakehouse) -> None:
    lakehouse.create(EVENTS)
    assert list(lakehouse.catalogs.health()) == [PartHealth("catalog:lake", PartState.UP)]
    lakehouse.stop()
    with pytest.raises(CatalogDown) as raised:
        lakehouse.catalogs.facts(EVENTS)
    assert raised.value.detail == "The catalog lake does not answer."
    with pytest.raises(CatalogDown):
        lakehouse.catalogs.tables()
    assert list(lakehouse.catalogs.nearest("lake.logs.evnts")) == []
    assert [health.state for health in lakehouse.catalogs.health()] == [PartState.DOWN]
    lakehouse.start()
    assert lakehouse.catalogs.facts(EVENTS).name == EVENTS
    assert lakehouse.catalogs.tables() == TableListing((EVENTS,))
    assert [health.state for health in lakehouse.catalogs.health()] == [PartState.UP]
