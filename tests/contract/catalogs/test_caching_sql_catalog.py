"""A SQL catalog with a cache returns the same as one that reads every file again."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.schema import Schema
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Operation, Snapshot, Summary
from pyiceberg.table.update import (
    AddSnapshotUpdate,
    AssertRefSnapshotId,
    AssertTableUUID,
    SetPropertiesUpdate,
    SetSnapshotRefUpdate,
)
from pyiceberg.types import LongType, NestedField, StringType

from service.adapters.catalogs.caching_sql_catalog import MAX_CACHED_BYTES, CachingSqlCatalog
from service.adapters.catalogs.metadata_json import metadata_json
from service.adapters.catalogs.opened_tables import OpenedTables
from service.adapters.catalogs.variant_type import VariantType, table_metadata
from service.adapters.disk.synced_files import not_synced
from service.model.tables.tables import TableName
from tests.contract.catalogs.conftest import Postgres

SCHEMA = Schema(NestedField(1, "id", LongType()), NestedField(2, "note", StringType()))
ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "note": ["a", "b"]})


@pytest.fixture
def properties(tmp_path: Path) -> dict[str, str]:
    return {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": tmp_path.as_uri()}


@pytest.fixture
def catalog(properties: dict[str, str]) -> Iterator[CachingSqlCatalog]:
    made = CachingSqlCatalog("lake", not_synced, max_cached_bytes=MAX_CACHED_BYTES, **properties)
    made.create_namespace("a")
    yield made
    made.close()


@pytest.fixture
def outside(properties: dict[str, str], catalog: CachingSqlCatalog) -> Iterator[SqlCatalog]:  # noqa: ARG001
    plain = SqlCatalog("lake", **properties)
    yield plain
    plain.close()


@pytest.fixture
def table(catalog: CachingSqlCatalog) -> Table:
    return catalog.create_table("a.t", SCHEMA, properties={"format-version": "2"})


def as_written(table: Table) -> str:
    return FromInputFile.table_metadata(table.io.new_input(table.metadata_location)).model_dump_json()


def change_a_lot(table: Table) -> None:
    table.append(ROWS)
    with table.transaction() as transaction:
        transaction.set_properties({"owner": "ann", "note": "x"})
    with table.transaction() as transaction:
        transaction.remove_properties("note")
    with table.update_schema() as schema:
        schema.add_column("more", LongType())
    table.append(ROWS, snapshot_properties={"round": "7"})
    with table.manage_snapshots() as snapshots:
        current = table.current_snapshot()
        assert current is not None
        snapshots.create_branch(current.snapshot_id, "audit").create_tag(current.snapshot_id, "first")
    table.append(ROWS, branch="audit")
    table.delete("id = 1")


def test_what_is_cached_is_what_the_metadata_file_says(catalog: CachingSqlCatalog, table: Table) -> None:
    change_a_lot(table)
    cached = catalog.load_table("a.t")
    assert cached.metadata.model_dump_json() == as_written(cached)
    assert cached.refs().keys() == {"main", "audit", "first"}
    assert sorted(cached.scan().to_arrow()["id"].to_pylist()) == [2, 2]


def test_a_metadata_file_says_what_pyiceberg_writes(catalog: CachingSqlCatalog, table: Table) -> None:
    assert metadata_json(table.metadata) is None
    change_a_lot(table)
    metadata = catalog.load_table("a.t").metadata
    for _ in range(2):
        found = metadata_json(metadata)
        assert found is not None
        assert json.loads(found) == json.loads(metadata.model_dump_json())


def test_older_versions_stay_as_they_were(catalog: CachingSqlCatalog, table: Table) -> None:
    before = catalog.load_table("a.t")
    said = before.metadata.model_dump_json()
    change_a_lot(table)
    assert before.metadata.model_dump_json() == said == as_written(before)


def test_a_version_that_a_commit_has_replaced_makes_room(catalog: CachingSqlCatalog, table: Table) -> None:
    opened = OpenedTables(max_entries=100, max_bytes=1 << 20)
    name = TableName("lake", *table.name())
    for number in range(3):
        with table.update_schema() as update:
            update.add_column(f"more_{number}", LongType())
        found = opened.opened(catalog, name)
        assert opened.opened(catalog, name) is found
        assert found.table.metadata_location == table.metadata_location
        assert opened.use.entries == catalog._cached.use.entries == 1


def test_a_metadata_file_is_not_read_again(catalog: CachingSqlCatalog, table: Table) -> None:
    table.append(ROWS)
    location = catalog.load_table("a.t").metadata_location
    Path(location.removeprefix("file://")).unlink()
    assert catalog.load_table("a.t").metadata_location == location


def test_a_commit_from_outside_is_seen_at_once(
    catalog: CachingSqlCatalog, outside: SqlCatalog, table: Table
) -> None:
    outside.load_table("a.t").append(ROWS)
    assert len(catalog.load_table("a.t").snapshots()) == 1
    with pytest.raises(CommitFailedException):
        table._do_commit((), (AssertRefSnapshotId(ref="main", snapshot_id=None),))


def test_a_table_that_was_dropped_and_recreated_is_another_one(
    catalog: CachingSqlCatalog, outside: SqlCatalog, table: Table
) -> None:
    outside.drop_table("a.t")
    outside.create_table("a.t", SCHEMA, location=table.location(), properties={"format-version": "2"})
    assert catalog.load_table("a.t").metadata.table_uuid != table.metadata.table_uuid


def test_a_table_whose_metadata_is_larger_than_the_cache_is_still_cached(properties: dict[str, str]) -> None:
    catalog = CachingSqlCatalog("lake", not_synced, max_cached_bytes=1, **properties)
    try:
        catalog.create_namespace("a")
        table = catalog.create_table("a.t", SCHEMA, properties={"format-version": "2"})
        table.append(ROWS)
        location = table.metadata_location
        assert catalog.cached(("a", "t"), location) is not None
        assert catalog.load_table("a.t").metadata_location == location
    finally:
        catalog.close()


def test_catalogs_that_open_one_empty_database_together_all_work(postgres: Postgres) -> None:
    # PyIceberg alone failed in eight of ten such rounds.
    for _ in range(8):
        url, together = postgres.url_of_new_database(), Barrier(4)

        def opened(_number: int, url: str = url, together: Barrier = together) -> list[tuple[str, ...]]:
            together.wait()
            with closing(CachingSqlCatalog("lake", not_synced, uri=url, warehouse="file:///lake")) as made:
                return made.list_namespaces()

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(opened, range(4))) == [[]] * 4


VARIANT = {"id": 3, "name": "payload", "required": False, "type": "variant", "doc": "the rest"}
UNKNOWN = {"encryption-keys": [{"key-id": "k", "encrypted-key-metadata": "YQ=="}]}


@pytest.fixture(params=["json", "gz.metadata.json"])
def newer(request: pytest.FixtureRequest, catalog: CachingSqlCatalog, table: Table) -> Table:
    """A table of format version 3, with things that PyIceberg does not know."""
    table.append(ROWS)
    written = json.loads(path_of(table.metadata_location).read_text("utf-8"))
    written["snapshots"] = [
        snapshot | {"first-row-id": 0, "added-rows": 2, "key-id": "k"} for snapshot in written["snapshots"]
    ]
    defaults = {"initial-default": "a", "write-default": "b"}
    written["schemas"][0]["fields"][1] |= defaults
    written["schemas"][0]["fields"].append(VARIANT)
    newer = {"format-version": 3, "next-row-id": 2, "last-column-id": 3}
    content = json.dumps(written | newer | UNKNOWN).encode()
    path = path_of(table.metadata_location).with_name(f"00009-{uuid4()}.{request.param}")
    path.write_bytes(gzip.compress(content) if "gz" in request.param else content)
    return catalog.register_table("a.newer", path.as_uri())


def test_a_commit_to_a_newer_format_version_loses_nothing(catalog: CachingSqlCatalog, newer: Table) -> None:
    before, location = raw(newer), newer.metadata_location
    assert newer.schema().find_type("payload") == VariantType()
    snapshot = Snapshot(
        snapshot_id=77,
        parent_snapshot_id=newer.metadata.current_snapshot_id,
        sequence_number=2,
        manifest_list="file:///list.avro",
        summary=Summary(Operation.APPEND),
        schema_id=0,
        first_row_id=2,
        added_rows=5,
    )
    updates = (
        AddSnapshotUpdate(snapshot=snapshot),
        SetSnapshotRefUpdate(
            ref_name="main",
            type="branch",
            snapshot_id=77,
            max_ref_age_ms=None,
            max_snapshot_age_ms=None,
            min_snapshots_to_keep=None,
        ),
        SetPropertiesUpdate(updates={"round": "7"}),
    )
    newer._do_commit(updates, (AssertTableUUID(uuid=newer.metadata.table_uuid),))
    after = raw(catalog.load_table("a.newer"))
    [known, added] = after["snapshots"]
    assert known == before["snapshots"][0]
    assert (added["snapshot-id"], added["first-row-id"], added["added-rows"]) == (77, 2, 5)
    assert (after["next-row-id"], after["last-sequence-number"], after["current-snapshot-id"]) == (7, 2, 77)
    assert after["properties"] == before["properties"] | {"round": "7"}
    assert after["metadata-log"][-1]["metadata-file"] == location
    assert after["refs"]["main"]["snapshot-id"] == 77
    changed = {
        *("snapshots", "next-row-id", "last-sequence-number", "current-snapshot-id", "properties", "refs"),
        *("metadata-log", "snapshot-log", "last-updated-ms"),
    }
    assert {name: after[name] for name in before if name not in changed} == {
        name: value for name, value in before.items() if name not in changed
    }
    assert set(after) == set(before)
    # Read from the file, and not from the cache.
    [read] = table_metadata(newer.io.new_input(catalog.load_table("a.newer").metadata_location)).schemas
    assert read == newer.schema()


def test_a_table_of_a_newer_format_version_is_not_created(catalog: CachingSqlCatalog) -> None:
    with pytest.raises(ValueError, match="not created here"):
        catalog.create_table("a.newer", SCHEMA, properties={"format-version": "3"})
    assert not catalog.table_exists("a.newer")


def raw(table: Table) -> dict[str, Any]:
    content = path_of(table.metadata_location).read_bytes()
    text = gzip.decompress(content) if table.metadata_location.endswith(".gz.metadata.json") else content
    found: dict[str, Any] = json.loads(text)
    return found


def path_of(location: str) -> Path:
    return Path(location.removeprefix("file://"))
