"""Tables with a commit of a machine whose clock is ahead: the gateway still commits, and Spark reads them."""

from __future__ import annotations

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.contract.catalogs.ahead import commit_ahead
from tests.integration.asking import rows
from tests.integration.lakehouse import RETURNS, make, returns_row

pytestmark = pytest.mark.integration


def ingest(gateway: httpx.Client, **body: object) -> None:
    response = gateway.post("/ingest", json=body)
    assert response.status_code == 200, response.text


def test_a_table_stays_readable_after_a_commit_of_a_machine_whose_clock_is_ahead(
    gateway: httpx.Client, lake: SqlCatalog, new_name: str
) -> None:
    table = make(lake, new_name, RETURNS)
    table.append(returns_row(1))
    commit_ahead(table)
    name = f"lake.{new_name}"
    ingest(gateway, table=name, records=[{"return_id": 2, "reason": "appended"}])
    upsert = {"mode": "upsert", "equalityFields": ["return_id"]}
    ingest(gateway, table=name, records=[{"return_id": 2, "reason": "replaced"}], **upsert)
    fields = [{"name": "return_id", "type": "long"}, {"name": "shelf", "type": "int"}]
    evolved = {"records": [{"return_id": 3, "shelf": 7}], "schema": {"fields": fields}, "evolve": True}
    ingest(gateway, table=name, **evolved)
    found = rows(gateway, f"SELECT return_id, reason, shelf FROM {name} ORDER BY return_id")
    assert found == [[1, "new", None], [2, "replaced", None], [3, None, 7]]
    moments = [entry.timestamp_ms for entry in lake.load_table(new_name).metadata.snapshot_log]
    assert moments == sorted(set(moments))
