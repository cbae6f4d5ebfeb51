"""Results that are large, or that are never read."""

from __future__ import annotations

import httpx

from tests.drill.attacks import ATTACK_S, opened, queries, requests
from tests.drill.hostile import Attack, Hostile

ROWS_OF_A_KILOBYTE = "SELECT id, repeat('x', 1000) AS x FROM range(0, {})"
LARGE = {"rowLimit": 1_000_000, "byteLimit": 2**30}


def _result(hostile: Hostile, text: str) -> str:
    body = {"sql": text, "waitTimeout": "50s", "format": "ARROW_STREAM"} | LARGE
    return str(hostile.client.post("/query", json=body).json()["queryId"])


def _read_again_and_again(hostile: Hostile) -> None:
    path = f"/query/{_result(hostile, 'SELECT id, id AS a, id AS b, id AS c FROM range(0, 200000)')}/chunks/0"
    kinds = ("application/json", "text/csv", "application/vnd.apache.arrow.stream")
    requests(lambda caller, at: caller.client.get(path, headers={"Accept": kinds[at % 2]}), 2000, 32)(hostile)


def _never_read(hostile: Hostile) -> None:
    path = f"/query/{_result(hostile, ROWS_OF_A_KILOBYTE.format(100_000))}/chunks/0"
    opened(300, lambda attacker: attacker.head(f"GET {path}", "Accept: text/csv"))(hostile)


def _explained(hostile: Hostile) -> None:
    text = " UNION ALL ".join(["SELECT count(*) FROM lake.drill.returns"] * 40)
    body = {"sql": text, "waitTimeout": "40s"}
    query_id = hostile.client.post("/query", json=body).json()["queryId"]
    pages = {"Accept": "text/html"}
    requests(lambda caller, _: caller.client.get(f"/explain/{query_id}", headers=pages), 1000, 32)(hostile)


def _waiting(number: int) -> Attack:
    """Opens connections that wait for the answer to one query."""

    def attack(hostile: Hostile) -> None:
        body = {"sql": "SELECT sum(hash(id)) FROM range(0, 1000000000000, 1, 1)", "timeout": "60s"}
        query_id = hostile.client.post("/query", json=body | {"waitTimeout": "0s"}).json()["queryId"]
        path = f"GET /query/{query_id}?waitTimeout=50s"
        opened(number, lambda attacker: attacker.head(path))(hostile)
        with httpx.Client(base_url=hostile.url, headers=hostile.headers, timeout=ATTACK_S) as client:
            client.delete(f"/query/{query_id}")

    return attack


RESULTS: dict[str, Attack] = {
    "8 results of 1 GB": queries(
        *(ROWS_OF_A_KILOBYTE.format(1_000_000 + number) for number in range(8)), timeout_s=20, **LARGE
    ),
    "8 results of 1,000,000 rows": queries(
        *(f"SELECT id FROM range(0, {1_000_000 - number})" for number in range(8)), timeout_s=20, **LARGE
    ),
    "one value of 400 MB": queries("SELECT repeat(string(id), 400000000) FROM range(1)", **LARGE),
    "results of 2,000 columns": queries(
        *(
            "SELECT " + ", ".join(f"id AS c{at}" for at in range(2_000)) + f" FROM range({2_000 + number})"
            for number in range(4)
        ),
        timeout_s=20,
        **LARGE,
    ),
    "one chunk, read 2,000 times": _read_again_and_again,
    "300 downloads that are never read": _never_read,
    "one explanation, read 1,000 times": _explained,
    "1,800 connections wait for an answer": _waiting(1_800),
}
