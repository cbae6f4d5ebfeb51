"""Maintenance that a test starts and waits for."""

from __future__ import annotations

from collections.abc import Mapping

import httpx
from pyiceberg.table import Table

from tests.integration.readers import named
from tests.polling import until

WITHIN_S = 120.0


def compact(gateway: httpx.Client, table: Table) -> Mapping[str, int]:
    """Compacts the table, and returns the counts."""
    response = gateway.post(f"/tables/{named(table)}/maintenance", json={"operations": ["compact"]})
    assert response.status_code == 202, response.text
    link = response.json()["links"]["self"]
    until(lambda: gateway.get(link).status_code == 200, WITHIN_S)
    done = gateway.get(link).json()
    assert done["state"] == "SUCCEEDED", done
    [result] = done["results"]
    counts: Mapping[str, int] = result["counts"]
    return counts
