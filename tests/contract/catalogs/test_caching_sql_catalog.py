"""A SQL catalog with a cache returns the same as one that reads every file again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.schema import Schema
from pyiceberg.serializers import FromInputFile
from pyiceberg.table import Table
from pyiceberg.table.update import AssertRefSnapshotId
from pyiceberg.types import LongType, NestedField, StringType

from service.adapters.catalogs.caching_sql_catalog import MAX_CACHED_BYTES, CachingSqlCatalog
from service.adapters.catalogs.metadata_json import metadata_json
from service.adapters.catalogs.opened_tables import OpenedTables
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
