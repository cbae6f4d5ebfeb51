"""Tests of the real adapter alone: hanging servers, threads, caching and messages."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from datetime import timedelta
from pathlib import Path

import pytest
from pyiceberg.types import DecimalType

from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.catalogs.read_at import read_at
from service.errors.gateway_error import CannotStart
from service.errors.table_errors import TableUnreadable
from service.errors.unavailable import CatalogDown
from service.model.operations.health import PartState
from service.model.tables.tables import (
    PartitionField,
    ReferenceKind,
    TableAt,
    TableName,
    TableReference,
    TableVersion,
    VersionKind,
)
from tests.contract.catalogs.lakehouse import PyIcebergLakehouse
from tests.fakes.clock import FakeClock

EVENTS = TableName("lake", "logs", "events")
BOUND_S = 2.5


@pytest.fixture
def hanging_port() -> Iterator[int]:
    """A port on which the system accepts connections, but nothing ever answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as listener:
        yield listener.getsockname()[1]


def _hanging(port: int) -> dict[str, Mapping[str, str]]:
    return {
        "rest": {"type": "rest", "uri": f"http://127.0.0.1:{port}", "credential": "id:s3cret"},
        "sql": {
            "type": "sql",
            "uri": f"postgresql+psycopg://me:s3cret@127.0.0.1:{port}/lake",
            "warehouse": "file:///nowhere",
        },
    }


@pytest.fixture
def sqlite_lakehouse(tmp_path: Path) -> Iterator[PyIcebergLakehouse]:
    properties = {
        "type": "sql",
        "uri": f"sqlite:///{tmp_path}/catalog.db",
        "warehouse": f"file://{tmp_path}/warehouse",
    }
    lakehouse = PyIcebergLakehouse(properties, lambda: None, lambda: None)
    yield lakehouse
    lakehouse.close()


@pytest.mark.filterwarnings("ignore:.*OAuth2.*:DeprecationWarning")
def test_a_hanging_catalog_holds_up_neither_health_nor_nearest(hanging_port: int, tmp_path: Path) -> None:
    up = {"type": "sql", "uri": f"sqlite:///{tmp_path}/up.db", "warehouse": f"file://{tmp_path}"}
    catalogs = PyIcebergCatalogs(_hanging(hanging_port) | {"up": up}, FakeClock(), timeout_s=3)
    before = time.monotonic()
    first, second = catalogs.health(), catalogs.health()
    assert time.monotonic() - before < 2 * BOUND_S
    states = {health.name: health.state for health in first}
    assert states["catalog:rest"] is states["catalog:sql"] is PartState.DOWN
    assert {health.name: health.state for health in second}["catalog:up"] is PartState.UP
    before = time.monotonic()
    assert catalogs.nearest("rest.logs.events") == ()
    assert time.monotonic() - before < BOUND_S
    catalogs.close()


@pytest.mark.filterwarnings("ignore:.*OAuth2.*:DeprecationWarning")
@pytest.mark.parametrize("name", ["rest", "sql"])
def test_a_hanging_catalog_is_down_after_its_timeout_and_keeps_its_secrets(
    hanging_port: int, name: str
) -> None:
    catalogs = PyIcebergCatalogs(_hanging(hanging_port), FakeClock(), timeout_s=0.5)
    with pytest.raises(CatalogDown) as raised:
        catalogs.facts(TableName(name, "logs", "events"))
    assert str(raised.value) == f"The catalog {name} does not answer."
    catalogs.close()


@pytest.mark.filterwarnings("ignore:.*OAuth2.*:DeprecationWarning")
def test_a_hanging_catalog_does_not_hold_up_the_facts_of_others(
    hanging_port: int, sqlite_lakehouse: PyIcebergLakehouse
) -> None:
    sqlite_lakehouse.create(EVENTS)
    settings = _hanging(hanging_port) | {"lake": sqlite_lakehouse.properties}
    catalogs = PyIcebergCatalogs(settings, FakeClock(), timeout_s=3)
    hanging = [TableAt(TableName(catalog, "logs", "events")) for catalog in ("rest", "sql")]
    before = time.monotonic()
    assert list(catalogs.facts_of([*hanging, TableAt(EVENTS)])) == [TableAt(EVENTS)]
    assert time.monotonic() - before < BOUND_S
    catalogs.close()


def test_a_table_whose_metadata_is_lost_is_left_out_of_the_facts(
    sqlite_lakehouse: PyIcebergLakehouse,
) -> None:
    lost = TableName("lake", "logs", "lost")
    for name in (EVENTS, lost):
        sqlite_lakehouse.create(name)
    table = sqlite_lakehouse.outside.load_table("logs.lost")
    Path(table.metadata_location.removeprefix("file://")).unlink()
    asked = [TableAt(EVENTS), TableAt(lost)]
    assert list(sqlite_lakehouse.catalogs.facts_of(asked)) == [TableAt(EVENTS)]


def test_a_table_with_a_type_that_pyiceberg_does_not_know_is_reported_as_such(
    sqlite_lakehouse: PyIcebergLakehouse,
) -> None:
    newer = TableName("lake", "logs", "newer")
    for table in (EVENTS, newer):
        sqlite_lakehouse.create(table)
    metadata = Path(
        sqlite_lakehouse.outside.load_table("logs.newer").metadata_location.removeprefix("file://")
    )
    content = metadata.read_text().replace('"type":"string"', '"type":"variant"')
    metadata.write_text(content.replace('"properties":{}', '"properties":{"token":"s3cret"}'))
    with pytest.raises(TableUnreadable, match="variant") as caught:
        sqlite_lakehouse.catalogs.facts(newer)
    assert "s3cret" not in str(caught.value)
    asked = [TableAt(EVENTS), TableAt(newer)]
    assert list(sqlite_lakehouse.catalogs.facts_of(asked)) == [TableAt(EVENTS)]


def test_metadata_that_did_not_change_is_not_read_again(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS)
    before = sqlite_lakehouse.catalogs.opened(EVENTS)
    Path(before.table.metadata_location.removeprefix("file://")).unlink()
    assert sqlite_lakehouse.catalogs.opened(EVENTS) is before
    assert sqlite_lakehouse.catalogs.facts_of([TableAt(EVENTS)]) == {TableAt(EVENTS): before.facts}


def test_a_gateway_can_be_built_while_every_catalog_is_down() -> None:
    down = {"type": "rest", "uri": "http://127.0.0.1:1"}
    catalogs = PyIcebergCatalogs({"lake": down}, FakeClock())
    assert [health.state for health in catalogs.health()] == [PartState.DOWN]


def test_a_listing_for_near_names_is_cached_for_a_few_seconds(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS)
    catalogs = sqlite_lakehouse.catalogs
    assert catalogs.nearest("logs.evnts") == ("lake.logs.events",)
    sqlite_lakehouse.create(TableName("lake", "logs", "evnts"))
    assert catalogs.nearest("logs.evnts") == ("lake.logs.events",)
    sqlite_lakehouse.clock.advance(timedelta(seconds=6))
    assert catalogs.nearest("logs.evnts") == ("lake.logs.evnts", "lake.logs.events")


def test_many_threads_may_ask_at_once(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS)
    catalogs = sqlite_lakehouse.catalogs
    with ThreadPoolExecutor(8) as pool:
        facts = list(pool.map(lambda _: catalogs.facts(EVENTS), range(64)))
    assert len(set(facts)) == 1


@pytest.mark.integration
def test_many_threads_may_ask_a_rest_catalog_at_once(rest_lakehouse: PyIcebergLakehouse) -> None:
    rest_lakehouse.create(EVENTS)
    with ThreadPoolExecutor(8) as pool:
        facts = list(pool.map(lambda _: rest_lakehouse.catalogs.facts(EVENTS), range(64)))
    assert len(set(facts)) == 1


def test_only_the_newest_hundred_snapshots_are_reported(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS)
    for _ in range(101):
        sqlite_lakehouse.append(EVENTS, 1)
    facts = sqlite_lakehouse.catalogs.facts(EVENTS)
    assert len(facts.snapshots) == 100
    assert facts.snapshots[0].snapshot_id == facts.snapshot_id
    assert facts.record_count == 101


def test_branches_and_tags_are_reported_by_name(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS)
    assert sqlite_lakehouse.catalogs.facts(EVENTS).references == ()
    sqlite_lakehouse.append(EVENTS, 3)
    table = sqlite_lakehouse.catalogs.pyiceberg("lake").load_table("logs.events")
    first = table.metadata.current_snapshot_id or 0
    table.manage_snapshots().create_tag(first, "first").create_branch(first, "other").commit()
    sqlite_lakehouse.append(EVENTS, 1)
    facts = sqlite_lakehouse.catalogs.facts(EVENTS)
    assert facts.references == (
        TableReference("first", ReferenceKind.TAG, first),
        TableReference("main", ReferenceKind.BRANCH, facts.snapshot_id or 0),
        TableReference("other", ReferenceKind.BRANCH, first),
    )


def test_a_partition_field_names_its_source_as_it_is_called_now(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS, partition_fields=(PartitionField("type", "log_type", "identity"),))
    table = sqlite_lakehouse.catalogs.pyiceberg("lake").load_table("logs.events")
    with table.update_schema() as schema:
        schema.rename_column("log_type", "kind")
    fields = sqlite_lakehouse.catalogs.facts(EVENTS).partition_fields
    assert fields == (PartitionField("type", "kind", "identity"),)


def test_earlier_specs_are_reported_without_what_the_current_one_has(
    sqlite_lakehouse: PyIcebergLakehouse,
) -> None:
    before = (PartitionField("type", "log_type", "identity"), PartitionField("day", "day", "identity"))
    sqlite_lakehouse.create(EVENTS, partition_fields=before)
    table = sqlite_lakehouse.catalogs.pyiceberg("lake").load_table("logs.events")
    with table.update_spec() as spec:
        spec.remove_field("type").add_field("id", "bucket[4]", "id_bucket")
    facts = sqlite_lakehouse.catalogs.facts(EVENTS)
    assert facts.past_partition_fields == (before[0],)
    assert facts.partition_fields == (before[1], PartitionField("id_bucket", "id", "bucket[4]"))


def test_an_earlier_spec_over_a_dropped_column_is_not_reported(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS, partition_fields=(PartitionField("type", "log_type", "identity"),))
    table = sqlite_lakehouse.catalogs.pyiceberg("lake").load_table("logs.events")
    with table.update_spec() as spec:
        spec.remove_field("type")
    with table.update_schema(allow_incompatible_changes=True) as schema:
        schema.delete_column("log_type")
    assert sqlite_lakehouse.catalogs.facts(EVENTS).past_partition_fields == ()


def test_columns_with_a_bloom_filter_are_reported(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS)
    prefix = "write.parquet.bloom-filter-enabled.column."
    table = sqlite_lakehouse.catalogs.pyiceberg("lake").load_table("logs.events")
    with table.transaction() as transaction:
        transaction.set_properties({f"{prefix}id": "TRUE", f"{prefix}day": "false", f"{prefix}gone": "true"})
    assert sqlite_lakehouse.catalogs.facts(EVENTS).bloom_filter_columns == ("id",)


def test_statements_that_copy_no_files_are_reported(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS)
    modes = {"write.delete.mode": "Merge-On-Read", "write.update.mode": "copy-on-write", "write.mode": "x"}
    table = sqlite_lakehouse.catalogs.pyiceberg("lake").load_table("logs.events")
    with table.transaction() as transaction:
        transaction.set_properties(modes)
    assert sqlite_lakehouse.catalogs.facts(EVENTS).merge_on_read == ("DELETE",)


def test_a_second_spec_is_reported_even_if_the_first_has_no_field(
    sqlite_lakehouse: PyIcebergLakehouse,
) -> None:
    sqlite_lakehouse.create(EVENTS)
    assert sqlite_lakehouse.catalogs.facts(EVENTS).has_one_spec
    table = sqlite_lakehouse.catalogs.pyiceberg("lake").load_table("logs.events")
    with table.update_spec() as spec:
        spec.add_identity("day")
    assert not sqlite_lakehouse.catalogs.facts(EVENTS).has_one_spec


def test_decimals_that_had_fewer_digits_are_reported(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS)
    table = sqlite_lakehouse.catalogs.pyiceberg("lake").load_table("logs.events")
    with table.update_schema() as schema:
        schema.add_column("price", DecimalType(20, 2))
        schema.add_column("weight", DecimalType(20, 2))
        schema.add_column("small", DecimalType(9, 2))
    assert sqlite_lakehouse.catalogs.facts(EVENTS).widened_columns == ()
    with table.update_schema() as schema:
        schema.update_column("price", DecimalType(34, 2))
        schema.update_column("small", DecimalType(34, 2))
    with table.update_schema() as schema:
        schema.rename_column("price", "paid")
    assert sqlite_lakehouse.catalogs.facts(EVENTS).widened_columns == ("paid",)


def test_the_snapshots_schema_is_distinguished_from_the_tables(sqlite_lakehouse: PyIcebergLakehouse) -> None:
    sqlite_lakehouse.create(EVENTS)
    assert sqlite_lakehouse.catalogs.facts(EVENTS).snapshot_schema_id is None
    sqlite_lakehouse.append(EVENTS, 1)
    before = sqlite_lakehouse.catalogs.facts(EVENTS)
    assert before.snapshot_schema_id == before.schema_id
    table = sqlite_lakehouse.catalogs.pyiceberg("lake").load_table("logs.events")
    with table.update_schema() as schema:
        schema.rename_column("log_type", "kind")
    after = sqlite_lakehouse.catalogs.facts(EVENTS)
    assert after.snapshot_schema_id == before.schema_id
    assert after.schema_id != before.schema_id


def test_an_impossible_catalog_keeps_the_gateway_from_starting() -> None:
    with pytest.raises(CannotStart, match="Catalog lake: property uri is missing"):
        PyIcebergCatalogs({"lake": {"type": "rest"}}, FakeClock())


def test_a_version_has_the_columns_and_the_partition_fields_of_its_time(
    sqlite_lakehouse: PyIcebergLakehouse,
) -> None:
    sqlite_lakehouse.create(EVENTS, partition_fields=(PartitionField("day", "day", "identity"),))
    sqlite_lakehouse.append(EVENTS, 3)
    table = sqlite_lakehouse.catalogs.pyiceberg("lake").load_table("logs.events")
    first = table.metadata.current_snapshot_id or 0
    table.manage_snapshots().create_tag(first, "first").create_branch(first, "other").commit()
    with table.update_schema() as update:
        update.rename_column("day", "happened_on")
    asked = TableAt(EVENTS, TableVersion(VersionKind.REF, "first"))
    # Until there is another snapshot, Iceberg resolves the names in a filter by the current schema.
    assert sqlite_lakehouse.catalogs.facts_of([asked]) == {}

    table.append(table.scan().to_arrow())
    branch = TableAt(EVENTS, TableVersion(VersionKind.BRANCH, "other"))
    found = sqlite_lakehouse.catalogs.facts_of([asked, branch, TableAt(EVENTS)])
    names = {table: [column.name for column in facts.columns][1] for table, facts in found.items()}
    assert names == {asked: "day", branch: "happened_on", TableAt(EVENTS): "happened_on"}
    assert [field.source for field in found[asked].partition_fields] == ["day"]
    assert found[asked].snapshot_schema_id == found[asked].schema_id == 0
    # A branch is read with the table's columns; its snapshot, read by its id, with the snapshot's own.
    assert (found[branch].schema_id, found[branch].snapshot_schema_id) == (1, 0)
    assert found[asked].snapshot_id == found[branch].snapshot_id == first


def test_a_moment_is_not_known_when_the_log_and_its_clock_disagree(
    sqlite_lakehouse: PyIcebergLakehouse,
) -> None:
    sqlite_lakehouse.create(EVENTS)
    for _ in range(2):
        sqlite_lakehouse.append(EVENTS, 1)
    table = copy(sqlite_lakehouse.catalogs.opened(EVENTS).table)
    later = TableVersion(VersionKind.TIMESTAMP, 4_000_000_000_000)
    assert read_at(table, later) is not None
    log = list(reversed(table.metadata.snapshot_log))
    table.metadata = table.metadata.model_copy(update={"snapshot_log": log})
    assert read_at(table, later) is None
