"""A gateway where SQL may write, under policies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.running import RunningGateway

TOKENS = {
    role: f"token-of-the-{role}-91c4"
    for role in ("inserter", "changer", "filtered", "masked", "reader", "boss")
}
TABLES = "lake.w.*"
FACT = pa.schema([("id", pa.int64()), ("kind", pa.string())])


def rules(*actions: str, **more: Any) -> dict[str, Any]:
    return {"grants": [{"tables": TABLES, "actions": list(actions)}]} | more


ROLES: dict[str, Any] = {
    "inserter": rules("insert", "describe"),
    "changer": rules("select", "insert", "modify", "create", "maintain"),
    "filtered": rules(
        "select", "insert", "modify", rowFilters=[{"tables": TABLES, "predicate": "kind = 'a'"}]
    ),
    "masked": rules(
        "select",
        "insert",
        "modify",
        masks=[{"tables": TABLES, "column": "kind", "expression": "'hidden'"}],
    ),
    "reader": rules("select"),
    "boss": {"grants": [{"tables": "*.*.*", "actions": ["admin"]}]},
}


@dataclass
class Writing:
    """The gateway, a client for each role, and the catalog as another process opens it."""

    gateway: RunningGateway
    lake: SqlCatalog
    clients: dict[str, httpx.Client] = field(default_factory=dict)

    def send(self, role: str, sql: str, **body: Any) -> httpx.Response:
        return self.clients[role].post("/query", json={"sql": sql, "waitTimeout": "50s"} | body)

    def done(self, role: str, sql: str, **body: Any) -> dict[str, Any]:
        answer = self._ended(role, self.send(role, sql, **body))
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        assert found["status"]["state"] == "SUCCEEDED", found
        return found

    def refusal(self, role: str, sql: str, **body: Any) -> str:
        answer = self.send(role, sql, **body)
        if answer.status_code == 202:
            ended = self._ended(role, answer)
            late: str = ended.json()["status"]["error"]["code"]
            return late
        assert answer.status_code >= 400, answer.text
        code: str = answer.json()["code"]
        return code

    def _ended(self, role: str, answer: httpx.Response) -> httpx.Response:
        """Waits on a busy machine, where a write takes longer than the longest wait of a request."""
        for _ in range(4):
            if answer.status_code == 202:
                link = answer.json()["links"]["self"]
                answer = self.clients[role].get(link, params={"waitTimeout": "50s"})
        return answer

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        """Returns the rows as PyIceberg reads them, in order."""
        found = self.lake.load_table(table.removeprefix("lake.")).scan().to_arrow()
        return sorted(tuple(row.values()) for row in found.to_pylist())


@pytest.fixture(scope="package")
def writing(shared_folder: Path) -> Iterator[Writing]:
    settings = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_API_TOKENS": json.dumps(
            {role: sha256(text.encode()).hexdigest() for role, text in TOKENS.items()}
        ),
        "SLUICE_PRINCIPAL_ROLES": json.dumps({role: [role] for role in TOKENS}),
        "SLUICE_ADMINS": "boss",
        "SLUICE_AUTHORIZATION": "policies",
        "SLUICE_SQL_WRITES": "true",
        "SLUICE_SQL_WRITE_TABLES": '["lake.w.*", "lake.hidden.*", "lake.made.*"]',
        # On a busy machine, canceled tasks that write need their time, and an engine is not replaced for it.
        "SLUICE_ENGINE_GRACE_S": "60",
    }
    gateway = RunningGateway.start(shared_folder / "sql-writes", settings, within_s=500.0)
    try:
        with closing(embedded_catalog(gateway.data_dir)) as lake:
            lake.create_namespace("w")
            lake.create_namespace("hidden")
            # SQL may not write to it.
            lake.create_namespace("kept")
            # No role but the administrator's may read it.
            secret = pa.table({"id": [1, 2], "kind": ["secret", "secret"]}, schema=FACT)
            lake.create_table("hidden.s", FACT).append(secret)
            found = Writing(gateway, lake, {role: gateway.client_with(text) for role, text in TOKENS.items()})
            boss = found.clients["boss"]
            body = {"version": boss.get("/policies").json()["version"], "roles": ROLES}
            answer = boss.put("/policies", json=body)
            assert answer.status_code == 200, answer.text
            yield found
    finally:
        gateway.stop()


@pytest.fixture
def fact(writing: Writing) -> str:
    """A new table with four rows, two of each kind."""
    name = f"w.t_{uuid4().hex[:12]}"
    table = writing.lake.create_table(name, FACT)
    table.append(pa.table({"id": [1, 2, 3, 4], "kind": ["a", "a", "b", "b"]}, schema=FACT))
    return f"lake.{name}"
