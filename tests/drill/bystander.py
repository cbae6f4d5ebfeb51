"""Another caller, which sends `SELECT 1` and records all the time, and checks the gateway's readiness."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self
from uuid import uuid4

import httpx

PAUSE_S = 0.25


@dataclass(frozen=True, slots=True)
class Answer:
    """One question: when it was sent, how long its answer took, and whether the answer was right."""

    began_s: float
    took_s: float
    is_right: bool

    @property
    def ended_s(self) -> float:
        """The time of the answer."""
        return self.began_s + self.took_s


@dataclass
class Bystander:
    """Runs until its block ends. Times are seconds of the monotonic clock.

    `client` must open a connection for each request, as new callers do.
    """

    client: httpx.Client
    numbers: Callable[[], int]
    answers: list[Answer] = field(default_factory=list)
    probes: list[Answer] = field(default_factory=list)
    signs_of_life: list[Answer] = field(default_factory=list)
    accepted: list[int] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self._threads = [
            threading.Thread(target=self._repeat, args=(action,), daemon=True)
            for action in (self._ask, self._probe, self._look, self._ingest)
        ]
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        for thread in self._threads:
            thread.join(90)

    def is_calm_for(self, seconds: float) -> bool:
        """Returns whether everything was answered rightly for that long."""
        since_s = time.monotonic() - seconds
        kinds = (self.answers, self.probes)
        return all(_is_calm(kind, since_s) for kind in kinds)

    def _repeat(self, action: Callable[[], None]) -> None:
        while not self.ended.wait(PAUSE_S):
            action()

    def _ask(self) -> None:
        body = {"sql": "SELECT 1", "timeout": "30s", "waitTimeout": "40s"}
        self.answers.append(_timed(lambda: _is_one(self.client.post("/query", json=body))))

    def _probe(self) -> None:
        self.probes.append(_timed(lambda: self.client.get("/readyz").status_code == 200))

    def _look(self) -> None:
        self.signs_of_life.append(_timed(lambda: self.client.get("/healthz").status_code == 200))

    def _ingest(self) -> None:
        number = self.numbers()
        record = {"return_id": number, "reason": "drill"}
        body = {"table": "lake.drill.returns", "records": [record], "requestId": str(uuid4())}
        with contextlib.suppress(httpx.TransportError):
            if self.client.post("/ingest", json=body).status_code in (200, 202):
                self.accepted.append(number)


def _is_calm(answers: list[Answer], since_s: float) -> bool:
    recent = [answer for answer in answers if answer.ended_s >= since_s]
    return bool(recent) and all(answer.is_right for answer in recent)


def _is_one(response: httpx.Response) -> bool:
    return response.status_code == 200 and response.json()["result"]["rows"] == [[1]]


def _timed(call: Callable[[], bool]) -> Answer:
    began_s = time.monotonic()
    try:
        is_right = call()
    except httpx.TransportError:
        is_right = False
    return Answer(began_s, time.monotonic() - began_s, is_right)
