"""Keys of an upsert under an earlier partition spec of its table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import BucketTransform
from pyiceberg.types import LongType, NestedField

from service.adapters.commits.earlier_deletes import earlier_deletes
from service.adapters.commits.writable_tables import writer_state
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.model.ingest.writing import TableKey, WriteTarget
from service.model.tables.tables import TableName

BUCKETS = 40
KEYS = 5_000


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[SqlCatalog]:
    properties = {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": tmp_path.as_uri()}
    with closing(SqlCatalog("lake", **properties)) as made:
        made.create_namespace("game")
        yield made


def test_however_many_files_have_the_keys_an_earlier_partition_gets_one_file(catalog: SqlCatalog) -> None:
    spec = PartitionSpec(PartitionField(1, 1000, BucketTransform(BUCKETS), "part"))
    table = catalog.create_table("game.logs", Schema(NestedField(1, "id", LongType())), partition_spec=spec)
    with table.update_spec() as change:
        change.remove_field("part")
        change.add_field("id", BucketTransform(BUCKETS + 7), "other")
    metadata = table.metadata
    target = WriteTarget(
        TableKey(TableName("lake", "game", "logs")),
        metadata.current_schema_id,
        metadata.default_spec_id,
        is_upsert=True,
        equality_field_ids=(1,),
    )
    rows = pa.record_batch({"id": pa.array(range(KEYS), pa.int64())})
    result = write_data_files(writer_state(table), target, [rows], WriteBounds())
    assert len(result.delete_files) == BUCKETS + 7
    found = [json.loads(delete) for delete in earlier_deletes(table, [result], [table.specs()[0]])]
    assert Counter(delete["partition"][0] for delete in found) == Counter(range(BUCKETS))
    assert sum(delete["record-count"] for delete in found) == KEYS
