"""Tables of many write schemas with upserts: after a compaction, all readers find the same rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DateType, IntegerType, ListType, LongType, NestedField, StringType, StructType

from tests.integration.maintenance_calls import compact
from tests.integration.readers import Row, assert_read_alike, by_id, by_pyiceberg, by_spark, named

pytestmark = pytest.mark.integration

PLACE = StructType(NestedField(7, "city", StringType()), NestedField(8, "zip", LongType()))
SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "day", DateType()),
    NestedField(3, "note", StringType()),
    NestedField(4, "place", PLACE),
    NestedField(5, "level", IntegerType()),
    NestedField(6, "tags", ListType(9, StringType(), element_required=False)),
)
BY_DAY = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "day"))
NOTHING: Row = dict.fromkeys(field.name for field in SCHEMA.fields)
DAYS = [date(2026, 1, 1), date(2026, 1, 2), None]


@pytest.fixture(params=[UNPARTITIONED_PARTITION_SPEC, BY_DAY], ids=["flat", "by day"])
def table(lake: SqlCatalog, request: pytest.FixtureRequest) -> Iterator[Table]:
    lake.create_namespace_if_not_exists("compacted")
    name = f"compacted.t_{uuid4().hex}"
    yield lake.create_table(name, SCHEMA, partition_spec=request.param, properties={"format-version": "2"})
    lake.drop_table(name)


class Rows:
    """The rows that the table must have, by id."""

    def __init__(self, gateway: httpx.Client, table: Table) -> None:
        self.expected: dict[int, Row] = {}
        self._gateway = gateway
        self._table = table

    def put(self, ids: range, columns: list[str], mode: str = "append", **fields: Any) -> None:
        """Sends records with these fields; an upsert replaces whole rows."""
        days = {id_: DAYS[id_ % len(DAYS)] for id_ in ids}
        records = [
            {"id": id_, "day": None if day is None else day.isoformat(), **fields}
            for id_, day in days.items()
        ]
        body: dict[str, Any] = {"table": named(self._table), "writeSchema": columns, "records": records}
        if mode == "upsert":
            body |= {"mode": mode, "equalityFields": ["id", "day"]}
        response = self._gateway.post("/ingest", json=body)
        assert response.status_code == 200, response.text
        whole = fields | (
            {"place": {"city": None, "zip": None} | fields["place"]} if "place" in fields else {}
        )
        self.expected |= {id_: {**NOTHING, "id": id_, "day": day, **whole} for id_, day in days.items()}


def test_rows_of_many_write_schemas_and_upserts_are_read_alike_after_a_compaction(
    gateway: httpx.Client, table: Table
) -> None:
    rows = Rows(gateway, table)
    rows.put(range(10), ["id", "day", "note"], note="first")
    rows.put(range(10, 20), ["level", "id", "day"], level=7)
    rows.put(range(20, 24), ["tags", "day", "id", "place"], tags=["a", None], place={"city": "Ulm", "zip": 1})
    rows.put(range(5, 15), ["day", "place.city", "id"], "upsert", place={"city": "Bonn"})
    rows.put(range(9, 22), ["id", "day", "note", "level"], "upsert", note="last", level=-1)
    rows.put(range(11, 13), ["place.zip", "id", "day"], "upsert", place={"zip": 2**63 - 1})
    assert by_id(by_spark(gateway, f"SELECT * FROM {named(table)}")) == rows.expected
    with pytest.raises(ValueError, match="equality deletes"):
        by_pyiceberg(table)

    counts = compact(gateway, table)
    assert counts["removedDeleteFiles"] > 0
    assert_read_alike(gateway, table, rows.expected.values())

    rows.put(range(30, 33), ["note", "id", "day"], note="after")
    assert_read_alike(gateway, table, rows.expected.values())
    rows.put(range(31, 35), ["level", "id", "day"], "upsert", level=3)
    compact(gateway, table)
    assert_read_alike(gateway, table, rows.expected.values())
