"""Many requests, and bodies that are hard to parse."""

from __future__ import annotations

import json

from tests.drill.attacks import hang_up, posts, requests
from tests.drill.hostile import Attack, Hostile

MIB = 1024**2


def _sql(at: int, **more: object) -> bytes:
    return json.dumps({"sql": f"SELECT {at}", **more}).encode()


def _gone(hostile: Hostile, at: int) -> None:
    body = _sql(at, waitTimeout="40s")
    head = hostile.head("POST /query", "Content-Type: application/json", f"Content-Length: {len(body)}")
    hang_up(hostile, head, body)


def _canceled(hostile: Hostile, at: int) -> None:
    body = {"sql": f"SELECT max(id + {at}) FROM range(0, 100000000)", "waitTimeout": "0s"}
    query_id = hostile.client.post("/query", json=body).json()["queryId"]
    hostile.client.delete(f"/query/{query_id}", params={"waitTimeout": "0s"})


def _session(hostile: Hostile, at: int) -> None:
    body = {"sql": f"SELECT {at} FROM lake.drill.returns LIMIT 1", "catalog": "lake", "schema": f"s{at}"}
    hostile.client.post("/query", json=body | {"tags": {f"t{number}": "x" * 256 for number in range(32)}})


def _listed(hostile: Hostile, at: int) -> None:
    paths = (
        "/query?limit=1000",
        "/ingest?limit=1000",
        "/ingest/summary",
        "/pruning/summary",
        "/advice/lake.drill.returns",
        "/tables",
        "/filters",
        "/metrics",
    )
    hostile.client.get(paths[at % len(paths)])


def _stranger(hostile: Hostile, at: int) -> None:
    headers = {"Authorization": f"Bearer no-token-{at}", "Content-Type": "application/json"}
    hostile.client.post("/query", content=b"1" * MIB, headers=headers)


NESTED = b'{"sql": "SELECT :a", "parameters": {"a": ' + b"[" * 1_900_000 + b"]" * 1_900_000 + b"}}"
NAMES = json.dumps(
    {"sql": "SELECT 1", "parameters": {f"p{number}": number for number in range(200_000)}}
).encode()
NUMBERS = (
    b'{"sql": "SELECT :a", "parameters": {"a": 1e999999999}}',
    b'{"sql": "SELECT :a", "parameters": {"a": ' + b"9" * 3_900_000 + b"}}",
    b'{"sql": "SELECT :a", "parameters": {"a": {"value": 1e999999999, "type": "DECIMAL(38,0)"}}}',
    b'{"sql": "SELECT :a", "parameters": {"a": {"value": "1e999999999", "type": "DECIMAL(38,0)"}}}',
    b'{"sql": "SELECT 1", "rowLimit": 1e999999999}',
    b'{"sql": "SELECT 1", "timeout": "' + b"9" * 3_900_000 + b's"}',
)

REQUESTS: dict[str, Attack] = {
    "parameters 1,900,000 deep": posts("/query", [NESTED] * 8),
    "200,000 parameters": posts("/query", [NAMES] * 8),
    "parameters with huge numbers": posts("/query", NUMBERS),
    "names of formats of 3 MB": posts("/query", [_sql(1, format="x" * 3 * MIB)] * 8),
    "texts of 3 MB": posts(
        "/query", [_sql(1)[:-1] + b', "tags": {}, "schema": "' + b"x" * 3 * MIB + b'"}'] * 8
    ),
    "statements of 3 MB": posts(
        "/query", [json.dumps({"sql": "SELECT " + "(1)+" * 700_000 + "1"}).encode()] * 8
    ),
    "1,000 clients that hang up": requests(_gone, 1000, 16),
    "300 queries canceled at once": requests(_canceled, 300, 16),
    "500 sessions": requests(_session, 500, 16),
    "2,000 lists and sums": requests(_listed, 2000, 32),
    "2,000 strangers with 1 MB each": requests(_stranger, 2000, 32),
}
