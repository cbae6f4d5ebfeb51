"""The callers of the load. Locust has a Python of its own, so this imports nothing of the repository.

Each acknowledged ingest is a line in the ledger; any other is sent again, under its requestId.
"""

from __future__ import annotations

import io
import itertools
import json
import os
import random
import threading
from pathlib import Path
from typing import Any
from uuid import uuid4

import gevent
import pyarrow as pa
from locust import FastHttpUser, between, events, task

LEDGER = Path(os.environ["LOAD_LEDGER"])
NUMBERS = itertools.count(1)
USERS = itertools.count(1)
KEYS_OF_A_USER, KEYS_AT_ONCE, RECORDS = 1_000, 20, 50
FIRST_DAY, DAYS_PER_MONTH, MONTHS = 2_451_545, 10, 4
REFUSALS = frozenset({429, 503})
ENDLESS = "SELECT sum(hash(id)) AS s FROM range(0, 1000000000000, 1, 1)"
BAD = {
    "SELEC 1": "SQL_SYNTAX",
    "SELECT nothing FROM lake.shop.sales": "COLUMN_NOT_FOUND",
    "SELECT * FROM lake.shop.nowhere": "TABLE_NOT_FOUND",
    "DROP TABLE lake.shop.sales": "SQL_WRITES_OFF",
    "SELECT 1 / 0": "QUERY_FAILED",
}
_lock = threading.Lock()
_ended = threading.Event()


@events.test_stop.add_listener
def _on_stop(**_: Any) -> None:
    _ended.set()


def note(kind: str, **what: Any) -> None:
    """Appends a line to the ledger."""
    with _lock, LEDGER.open("a") as file:
        file.write(json.dumps({"kind": kind, **what}) + "\n")


class Caller(FastHttpUser):
    """A caller that does in turn what dashboards and services do."""

    wait_time = between(0.1, 0.6)
    connection_timeout = network_timeout = 90.0

    def on_start(self) -> None:
        """Reserves keys for this caller alone, so that it knows their values."""
        self.first_key = next(USERS) * KEYS_OF_A_USER
        self.turn = 0
        self.last_query = ""

    @task(10)
    def star(self) -> None:
        """Joins a fact to one month of its dimension."""
        month = random.randint(1, MONTHS)
        sql = (
            "SELECT c.month, count(*) AS sales FROM lake.shop.sales AS f JOIN lake.shop.calendar AS c"
            " ON f.day_key = c.day_key WHERE c.month = :month GROUP BY c.month"
        )
        days = range((month - 1) * DAYS_PER_MONTH, month * DAYS_PER_MONTH)
        expected = [[month, sum(10 + day for day in days)]]
        self.rows("star", sql, expected, parameters={"month": month})

    @task(10)
    def point(self) -> None:
        """Reads one row by its key."""
        number = random.randint(0, 199)
        sql = "SELECT return_id, reason FROM lake.shop.returns WHERE return_id = ?"
        self.rows("point", sql, [[number, "torn"]], parameters=[number])

    @task(4)
    def bad(self) -> None:
        """Sends an invalid query, which must be refused with its code."""
        sql, code = random.choice(list(BAD.items()))
        with self.client.post(
            "/query", json={"sql": sql, "waitTimeout": "50s"}, name="bad SQL", catch_response=True
        ) as answer:
            self.report(answer, code in (answer.text or ""))

    @task(2)
    def cancel(self) -> None:
        """Starts an endless query, and cancels it."""
        query_id = self.begun("cancel: begin", ENDLESS)
        if not query_id:
            return
        gevent.sleep(random.random())
        with self.client.delete(
            f"/query/{query_id}?waitTimeout=30s", name="cancel: end", catch_response=True
        ) as answer:
            self.report(answer, '"CANCELED"' in (answer.text or ""))

    @task(3)
    def download(self) -> None:
        """Reads a result of several chunks, in one of the formats."""
        form = random.choice(["JSON", "CSV", "ARROW_STREAM"])
        query_id = self.begun(
            "download: begin", "SELECT id, id * 7 AS n FROM range(25000)", format=form, rowLimit=25_000
        )
        answer = self.polled("download: poll", query_id) if query_id else None
        link = f"/query/{query_id}/chunks/0?format={form}" if answer else ""
        number = 0
        while link and number < 10:
            with self.client.get(link, name=f"download: chunk as {form}", catch_response=True) as chunk:
                self.report(chunk, bool(chunk.content))
                number += 1
                found = answer["manifest"]["chunkCount"] if answer else 0
                link = f"/query/{query_id}/chunks/{number}?format={form}" if number < found else ""

    @task(4)
    def poll(self) -> None:
        """Starts a query without waiting, and polls it until it ends."""
        query_id = self.begun("poll: begin", "SELECT count(*) AS n FROM lake.shop.sales WHERE sale_id > 1000")
        if query_id and self.polled("poll", query_id):
            self.last_query = query_id

    @task(4)
    def explain(self) -> None:
        """Reads an explanation in one of its formats."""
        if self.last_query:
            form = random.choice(["application/json", "text/plain", "text/html"])
            with self.client.get(
                f"/explain/{self.last_query}",
                headers={"Accept": form},
                name=f"explain as {form}",
                catch_response=True,
            ) as answer:
                self.report(answer, bool(answer.content))

    @task(5)
    def ndjson(self) -> None:
        """Appends records as NDJSON."""
        numbers = [next(NUMBERS) for _ in range(RECORDS)]
        body = "\n".join(json.dumps({"id": number, "form": "ndjson"}) for number in numbers).encode()
        self.sent("ingest ndjson", "lake.load.events", body, "application/x-ndjson", {"numbers": numbers})

    @task(5)
    def arrow(self) -> None:
        """Appends records as an Arrow stream."""
        numbers = [next(NUMBERS) for _ in range(RECORDS)]
        table = pa.table({"id": pa.array(numbers, pa.int64()), "form": ["arrow"] * RECORDS})
        stream = io.BytesIO()
        with pa.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)
        content = "application/vnd.apache.arrow.stream"
        self.sent("ingest arrow", "lake.load.events", stream.getvalue(), content, {"numbers": numbers})

    @task(3)
    def upsert(self) -> None:
        """Sets some of this caller's keys to the number of its turn."""
        self.turn += 1
        keys = random.sample(range(self.first_key, self.first_key + KEYS_OF_A_USER), KEYS_AT_ONCE)
        body = "\n".join(json.dumps({"id": key, "turn": self.turn}) for key in keys).encode()
        noted = {"keys": keys, "turn": self.turn}
        how = "&mode=upsert&equalityFields=id"
        self.sent("ingest upsert", "lake.load.keyed", body, "application/x-ndjson", noted, how)

    def sent(
        self, name: str, table: str, body: bytes, content: str, noted: dict[str, Any], how: str = ""
    ) -> None:
        """Sends a body until it is acknowledged. One that is not when the load ends may be stored or not."""
        path = f"/ingest?table={table}&requestId={uuid4()}{how}"
        note("sent", **noted)
        while True:
            with self.client.post(
                path, data=body, headers={"Content-Type": content}, name=name, catch_response=True
            ) as answer:
                self.report(answer, '"ingestId"' in (answer.text or ""))
                if answer.status_code in (200, 202):
                    note("accepted", **noted)
                    return
                if answer.status_code not in (*REFUSALS, 0):
                    return
            if _ended.is_set():
                return
            gevent.sleep(1)

    def rows(self, name: str, sql: str, expected: list[list[Any]], **more: Any) -> None:
        """Runs a query, and compares its rows."""
        with self.client.post(
            "/query", json={"sql": sql, "waitTimeout": "50s", **more}, name=name, catch_response=True
        ) as answer:
            found = answer.json() if answer.status_code == 200 else {}
            self.report(answer, (found.get("result") or {}).get("rows") == expected)
            self.last_query = found.get("queryId", self.last_query)

    def begun(self, name: str, sql: str, **more: Any) -> str:
        """Starts a query without waiting, and returns its id."""
        with self.client.post(
            "/query", json={"sql": sql, "waitTimeout": "0s", **more}, name=name, catch_response=True
        ) as answer:
            is_right = answer.status_code in (200, 202)
            self.report(answer, is_right)
            return str(answer.json()["queryId"]) if is_right else ""

    def polled(self, name: str, query_id: str) -> dict[str, Any] | None:
        """Polls a query, and returns its last answer."""
        for _ in range(600):
            with self.client.get(
                f"/query/{query_id}?waitTimeout=1s", name=name, catch_response=True
            ) as answer:
                is_right = answer.status_code in (200, 202)
                self.report(answer, is_right)
                if not is_right:
                    return None
                found: dict[str, Any] = answer.json()
                if answer.status_code == 200 and found["status"]["state"] == "SUCCEEDED":
                    return found
            gevent.sleep(0.1)
        return None

    def report(self, answer: Any, is_right: bool) -> None:
        """Counts refusals, which are not failures."""
        if answer.status_code in REFUSALS and '"code"' in (answer.text or ""):
            name = answer.request_meta["name"]
            note("refused", name=name, status=answer.status_code, code=answer.json()["code"])
            answer.success()
        elif is_right and answer.status_code < 500:
            answer.success()
        else:
            answer.failure(f"{answer.status_code}: {(answer.text or '')[:300]}")
