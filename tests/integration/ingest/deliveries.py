"""Clients that send an ingest under one `requestId` until they hear that it is committed, whoever dies."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

import httpx

GIVE_UP_AFTER_S = 120.0
DAYS = ("2026-01-01", "2026-01-02", "2026-01-03")
TYPES = 4
IDS_AT_MOST = 100


@dataclass(frozen=True, slots=True)
class Delivery:
    """Records of one log type, each id once, for one table or for both."""

    ids: Sequence[int]
    tables: Sequence[str]
    request_id: str = field(default_factory=lambda: str(uuid4()))

    def body(self) -> dict[str, Any]:
        """The request; the same each time."""
        column = f"c{self.ids[0] // IDS_AT_MOST % TYPES}"
        records = [{"id": each, "day": DAYS[each % len(DAYS)], column: f"{each}"} for each in self.ids]
        writes = [
            {"table": each, "writeSchema": ["id", "day", column], "records": records} for each in self.tables
        ]
        return {"writes": writes, "requestId": self.request_id}


class Address:
    """Where the gateway is, if it is anywhere."""

    def __init__(self) -> None:
        self._url: str | None = None
        self._changed = threading.Condition()

    def move(self, url: str | None) -> None:
        with self._changed:
            self._url = url
            self._changed.notify_all()

    def wait(self) -> str:
        with self._changed:
            assert self._changed.wait_for(lambda: self._url is not None, GIVE_UP_AFTER_S), (
                "no gateway any more"
            )
            assert self._url is not None
            return self._url

    def is_lost(self, url: str) -> bool:
        """Waits a moment for the gateway to be known as dead."""
        with self._changed:
            return self._changed.wait_for(lambda: self._url != url, 0.1)


class Deliveries:
    """So many clients at once; `answers` by `requestId`, and what should never have been answered."""

    def __init__(self, address: Address, deliveries: Sequence[Delivery], clients: int) -> None:
        self.answers: dict[str, dict[str, Any]] = {}
        self.faults: list[str] = []
        self.retries = 0
        self._address = address
        self._answered = threading.Condition()
        self._waiting: SimpleQueue[Delivery] = SimpleQueue()
        for each in deliveries:
            self._waiting.put(each)
        self._threads = [threading.Thread(target=self._client, daemon=True) for _ in range(clients)]
        for thread in self._threads:
            thread.start()

    def wait_for(self, count: int) -> None:
        """Until so many are answered, or something went wrong."""
        with self._answered:
            is_there = self._answered.wait_for(
                lambda: len(self.answers) >= count or self.faults, GIVE_UP_AFTER_S
            )
        assert is_there, f"only {len(self.answers)} of {count} were answered"
        assert not self.faults, self.faults

    def join(self) -> None:
        for each in self._threads:
            each.join(GIVE_UP_AFTER_S)

    def _client(self) -> None:
        while True:
            try:
                delivery = self._waiting.get_nowait()
            except Empty:
                return
            try:
                answer = self._deliver(delivery)
            except Exception as fault:  # noqa: BLE001 - the test tells it, from its own thread
                with self._answered:
                    self.faults.append(repr(fault))
                    self._answered.notify_all()
                return
            with self._answered:
                self.answers[delivery.request_id] = answer
                self._answered.notify_all()

    def _deliver(self, delivery: Delivery) -> dict[str, Any]:
        while True:
            url = self._address.wait()
            try:
                response = httpx.post(f"{url}/ingest", json=delivery.body(), timeout=60, trust_env=False)
            except httpx.TransportError:
                self.retries += 1
                self._address.is_lost(url)
                continue
            if response.status_code < 300 and response.json()["state"] != "ACCEPTED":
                answer: dict[str, Any] = response.json()
                return answer
            assert response.status_code in (200, 202, 503), response.text
            self._address.is_lost(url)
