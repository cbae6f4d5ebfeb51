"""Callers that ask and send all the time, and record each answer."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

TABLE = "lake.shop.counted"
CALENDAR = "SELECT count(*) FROM lake.shop.calendar WHERE month = 3"
PAUSE_S = 0.25
POLL_AT_MOST = 20


@dataclass
class Tally:
    """The outcomes of requests. Any thread may add to it."""

    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Counts by kind of request and outcome."""
    slowest_s: dict[str, float] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, kind: str, outcome: str, began_s: float) -> None:
        took_s = time.monotonic() - began_s
        with self._lock:
            self.answers[kind, outcome] += 1
            self.slowest_s[kind] = max(took_s, self.slowest_s.get(kind, 0.0))

    def fail(self, kind: str, why: str, began_s: float) -> None:
        self.count(kind, "failed", began_s)
        with self._lock:
            self.failures.append(f"{time.strftime('%H:%M:%S')} {kind}: {why[:300]}")

    def acknowledge(self, record_id: int) -> None:
        with self._lock:
            self.acknowledged.append(record_id)

    @property
    def requests(self) -> int:
        return sum(self.answers.values())

    @property
    def failed(self) -> int:
        return sum(count for (_, outcome), count in self.answers.items() if outcome == "failed")


def ingest_of(record_id: int) -> dict[str, Any]:
    """Returns an ingest of one record, under a requestId of its own."""
    return {
        "table": TABLE,
        "create": {},
        "schema": {"fields": [{"name": "id", "type": "long"}]},
        "records": [{"id": record_id}],
        "requestId": str(uuid4()),
    }


class Caller:
    """A caller with a token of its own, behind the front. If `is_patient`, it repeats failed requests."""

    def __init__(self, url: str, token: str, tally: Tally, number: int, *, is_patient: bool = False) -> None:
        self._client = httpx.Client(
            base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=120, trust_env=False
        )
        self._tally = tally
        self._number = number
        self._is_patient = is_patient

    def close(self) -> None:
        self._client.close()

    def ask(self, turn: int) -> None:
        """Runs a query, and waits for its answer."""
        sql, rows = (CALENDAR, None) if turn % 4 == 0 else (f"SELECT {turn}", [[turn]])
        answer = self._send("query", "POST", "/query", {"sql": sql, "waitTimeout": "50s"})
        if answer is not None and rows is not None and answer.get("result", {}).get("rows") != rows:
            self._tally.fail("query, its rows", str(answer), time.monotonic())

    def ask_later(self, turn: int) -> None:
        """Starts a query, and polls it until it ends."""
        sql = f"SELECT {turn} + count(*) FROM range(1000)"
        answer = self._send("query, async", "POST", "/query", {"sql": sql, "waitTimeout": "0s"})
        for _ in range(POLL_AT_MOST):
            if answer is None or answer["status"]["state"] not in ("QUEUED", "RUNNING"):
                break
            path = f"/query/{answer['queryId']}?waitTimeout=5s"
            answer = self._send("query, looked for", "GET", path)
        if answer is not None:
            self._tally.count("async result", _result(answer, [[turn + 1000]]), time.monotonic())

    def send(self, turn: int) -> None:
        """Sends a record with a new id, which is acknowledged once it is committed or accepted."""
        record_id = self._number * 1_000_000 + turn
        answer = self._send("ingest", "POST", "/ingest", ingest_of(record_id))
        if answer is not None:
            self._tally.acknowledge(record_id)

    def _send(self, kind: str, method: str, path: str, body: object = None) -> dict[str, Any] | None:
        while True:
            began_s = time.monotonic()
            try:
                answer = self._client.request(method, path, json=body)
            except httpx.TransportError as error:
                self._tally.fail(kind, repr(error), began_s)
            else:
                if answer.status_code in (200, 202):
                    self._tally.count(kind, str(answer.status_code), began_s)
                    found: dict[str, Any] = answer.json()
                    return found
                self._tally.fail(kind, f"{answer.status_code} {answer.text}", began_s)
            if not self._is_patient:
                return None
            time.sleep(1)


def _result(answer: dict[str, Any], rows: list[Any]) -> str:
    state = answer["status"]["state"]
    if state != "SUCCEEDED":
        return f"{state}: {(answer['status']['error'] or {}).get('code')}"
    if answer["result"] is None:
        return "gone with its gateway"
    return "read" if answer["result"]["rows"] == rows else "failed"


@contextmanager
def load(url: str, tokens: Sequence[str], tally: Tally, base: int, *, is_patient: bool) -> Iterator[None]:
    """Runs callers until the block ends: half of them query, one polls, and the others ingest."""
    ending = threading.Event()
    callers = [
        Caller(url, token, tally, base + number, is_patient=is_patient) for number, token in enumerate(tokens)
    ]
    asking = len(callers) // 2
    jobs: list[Callable[[int], None]] = [caller.ask for caller in callers[:asking]]
    jobs += [callers[asking].ask_later, *(caller.send for caller in callers[asking + 1 :])]

    def go_on(job: Callable[[int], None]) -> None:
        turn = 0
        while not ending.wait(PAUSE_S):
            turn += 1
            try:
                job(turn)
            except Exception as error:  # noqa: BLE001
                # Every failure that a caller meets counts.
                tally.fail("caller", repr(error), time.monotonic())

    threads = [threading.Thread(target=go_on, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ending.set()
        for thread in threads:
            thread.join()
        for caller in callers:
            caller.close()
