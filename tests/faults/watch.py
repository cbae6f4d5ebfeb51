"""Callers that ask and send while parts fail, and all of their answers."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Self
from uuid import uuid4

import httpx

PAUSE_S = 0.25
TIMEOUT_S = 90.0
NUMBERS = count(1)
DOCUMENTED = frozenset({200, 202, 429, 503, 507})
"""These answers promise nothing false: done, accepted, or refused with a code."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One answer. `code` is a problem's or the client's own; times are seconds of the monotonic clock."""

    kind: str
    began_s: float
    took_s: float
    status: int
    code: str
    body: Any

    @property
    def is_right(self) -> bool:
        """Whether the answer is the one that the caller wants."""
        return self.status == 200


@dataclass
class Watch:
    """Runs until its block ends; each kind of request has a thread of its own."""

    url: str
    table: str
    seen: list[Seen] = field(default_factory=list)
    accepted: list[int] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        kinds: dict[str, Callable[[httpx.Client], httpx.Response]] = {
            "select 1": lambda client: _query(client, "SELECT 1"),
            "table": lambda client: _query(client, f"SELECT count(*) FROM lake.{self.table}"),
            "ingest": self._ingest,
            "readyz": lambda client: client.get("/readyz"),
            "livez": lambda client: client.get("/livez"),
        }
        self._threads = [
            threading.Thread(target=self._repeat, args=kind, daemon=True) for kind in kinds.items()
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        for thread in self._threads:
            thread.join(TIMEOUT_S + 5)

    def since(self, moment_s: float, kind: str | None = None) -> Sequence[Seen]:
        """Returns the answers to requests since then."""
        return [
            answer for answer in list(self.seen) if answer.began_s >= moment_s and kind in (None, answer.kind)
        ]

    def is_calm_since(self, moment_s: float) -> bool:
        """Returns whether each kind was asked several times since then, and always answered rightly."""
        found = self.since(moment_s)
        counts = Counter(answer.kind for answer in found)
        is_ready = all(
            answer.body["status"] == "READY" for answer in found if answer.kind == "readyz" and answer.body
        )
        enough = len(counts) == len(self._threads) and min(counts.values()) >= 3
        return is_ready and enough and all(answer.is_right for answer in found)

    def _repeat(self, kind: str, action: Callable[[httpx.Client], httpx.Response]) -> None:
        limits = httpx.Limits(max_keepalive_connections=0)
        with httpx.Client(base_url=self.url, timeout=TIMEOUT_S, limits=limits, trust_env=False) as client:
            while not self.ended.wait(PAUSE_S):
                began_s = time.monotonic()
                try:
                    response = action(client)
                    body = response.json()
                    status, code = response.status_code, body.get("code", "")
                except httpx.TransportError as failure:
                    body, status, code = None, 0, type(failure).__name__
                self.seen.append(Seen(kind, began_s, time.monotonic() - began_s, status, code, body))

    def _ingest(self, client: httpx.Client) -> httpx.Response:
        number = next(NUMBERS)
        record = {"return_id": number, "reason": "drill"}
        body = {"table": f"lake.{self.table}", "records": [record], "requestId": str(uuid4())}
        response = client.post("/ingest", json=body)
        if response.status_code in (200, 202):
            self.accepted.append(number)
        return response


def _query(client: httpx.Client, sql: str) -> httpx.Response:
    response = client.post("/query", json={"sql": sql, "timeout": "60s", "waitTimeout": "50s"})
    if response.status_code == 200 and response.json()["status"]["state"] == "FAILED":
        # The query's failure counts as an answer; a refusal would have had the same code.
        error = response.json()["status"]["error"]
        return httpx.Response(503, json=error)
    return response
