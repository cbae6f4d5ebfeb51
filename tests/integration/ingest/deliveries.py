"""Clients that repeat an ingest under one `requestId` until it is committed, even if the gateway dies."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

import httpx
import pyarrow as pa

GIVE_UP_AFTER_S = 120.0
DAYS = ("2026-01-01", "2026-01-02", "2026-01-03")
TYPES = 4
IDS_AT_MOST = 100
EVENTS, COPIES, STATES = TABLES = ("lake.logs.events", "lake.logs.copies", "lake.logs.states")
DEAD_LETTER_TABLE = f"{EVENTS}__dead_letter"
# In deliveries with bad records, ids divisible by this have no valid day.
_BAD_EVERY = 5
# In upserts, some records only delete their keys, others in each delivery.
_DELETED_EVERY = 3


class Kind(Enum):
    """How records are sent, and what happens to them."""

    JSON = "records in JSON, with a write schema"
    INFERRED = "records in JSON, with the columns that they have"
    BOTH_TABLES = "two writes, to two tables, with write schemas in other orders"
    NDJSON = "a body of NDJSON"
    ARROW = "a stream of Arrow"
    DEAD_LETTERS = "a body of NDJSON, some of it bad"
    UPSERT = "rows and deletes by their keys, which other upserts have, too"


@dataclass(frozen=True, slots=True)
class Delivery:
    """Records of one log type. Ids are new, except in upserts, where they are keys."""

    number: int
    kind: Kind
    ids: Sequence[int]
    request_id: str = field(default_factory=lambda: str(uuid4()))

    @property
    def tables(self) -> Sequence[str]:
        """The tables that good records go to."""
        match self.kind:
            case Kind.BOTH_TABLES:
                return (EVENTS, COPIES)
            case Kind.UPSERT:
                return (STATES,)
            case _:
                return (EVENTS,)

    @property
    def column(self) -> str:
        """The column that all records of a delivery have beside `id` and `day`."""
        return f"c{self.number % TYPES}"

    @property
    def good_ids(self) -> list[int]:
        """The ids of the records that fit."""
        return [id_ for id_ in self.ids if not self._is_bad(id_)]

    @property
    def bad_lines(self) -> list[str]:
        """The records that do not fit, as they are sent."""
        return [json.dumps(self._record(id_)) for id_ in self.ids if self._is_bad(id_)]

    def row(self, number: int) -> dict[str, Any]:
        """Returns the table's row of a good record, in Python values."""
        values = {f"c{index}": None for index in range(TYPES)} | {self.column: self._value(number)}
        return {"id": number, "day": date.fromisoformat(_day(number)), **values}

    def send(self, url: str) -> httpx.Response:
        """Sends the request, which is the same each time."""
        if self.kind in (Kind.NDJSON, Kind.ARROW, Kind.DEAD_LETTERS):
            return self._send_body(f"{url}/ingest")
        return httpx.post(f"{url}/ingest", json=self._json(), timeout=60, trust_env=False)

    def _json(self) -> dict[str, Any]:
        records = [self._record(id_) for id_ in self.ids]
        write: dict[str, Any]
        named: dict[str, Any] = {"records": records, "writeSchema": ["id", "day", self.column]}
        match self.kind:
            case Kind.INFERRED:
                write = {"table": EVENTS, "records": records, "writeSchema": "infer"}
            case Kind.BOTH_TABLES:
                other = {"table": COPIES, "records": records, "writeSchema": [self.column, "day", "id"]}
                write = {"writes": [{"table": EVENTS, **named}, other]}
            case Kind.UPSERT:
                keyed = {"mode": "upsert", "equalityFields": ["day", "id"]}
                write = {"table": STATES, **keyed, "deleteWhen": {"field": "op", "values": ["D"]}, **named}
            case _:
                write = {"table": EVENTS, **named}
        return {**write, "requestId": self.request_id}

    def _send_body(self, address: str) -> httpx.Response:
        query = {"table": EVENTS, "requestId": self.request_id, "writeSchema": f"{self.column},id,day"}
        if self.kind is Kind.DEAD_LETTERS:
            query["onError"] = "DEAD_LETTER"
        is_arrow = self.kind is Kind.ARROW
        return httpx.post(
            address,
            params=query,
            content=self._arrow() if is_arrow else self._lines(),
            headers={
                "Content-Type": "application/vnd.apache.arrow.stream" if is_arrow else "application/x-ndjson"
            },
            timeout=60,
            trust_env=False,
        )

    def _lines(self) -> bytes:
        return "\n".join(json.dumps(self._record(id_)) for id_ in self.ids).encode()

    def _arrow(self) -> bytes:
        days = pa.array([date.fromisoformat(_day(id_)) for id_ in self.ids], pa.date32())
        rows = pa.table({"day": days, "id": list(self.ids), self.column: list(map(self._value, self.ids))})
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        return sink.getvalue()

    def _record(self, number: int) -> dict[str, Any]:
        day = "never" if self._is_bad(number) else _day(number)
        if self.deletes(number):
            return {"id": number, "day": day, "op": "D"}
        return {"id": number, "day": day, self.column: self._value(number)}

    def _value(self, number: int) -> str:
        # The value of a key says which upsert was the last one.
        return f"{self.number if self.kind is Kind.UPSERT else number}"

    def deletes(self, number: int) -> bool:
        """Whether the record with this id only deletes the row with its key."""
        return self.kind is Kind.UPSERT and (number + self.number) % _DELETED_EVERY == 0

    def _is_bad(self, number: int) -> bool:
        return self.kind is Kind.DEAD_LETTERS and number % _BAD_EVERY == 0


def _day(number: int) -> str:
    return DAYS[number % len(DAYS)]


class Address:
    """The address of the gateway, if one runs."""

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
        """Waits a moment for the news that the gateway is dead."""
        with self._changed:
            return self._changed.wait_for(lambda: self._url != url, 0.1)


class Deliveries:
    """Runs clients; collects `answers` by `requestId`, and faults: answers that must never be given."""

    def __init__(self, address: Address, deliveries: Sequence[Delivery], clients: int) -> None:
        self.answers: dict[str, dict[str, Any]] = {}
        self.faults: list[str] = []
        self.retries = 0
        self._address = address
        self._answered = threading.Condition()
        self._waiting: SimpleQueue[Delivery] = SimpleQueue()
        for delivery in deliveries:
            self._waiting.put(delivery)
        self._threads = [threading.Thread(target=self._client, daemon=True) for _ in range(clients)]
        for thread in self._threads:
            thread.start()

    def wait_for(self, count: int) -> None:
        """Waits until this many requests are answered, and asserts that nothing went wrong."""
        with self._answered:
            is_there = self._answered.wait_for(
                lambda: len(self.answers) >= count or self.faults, GIVE_UP_AFTER_S
            )
        assert is_there, f"only {len(self.answers)} of {count} were answered"
        assert not self.faults, self.faults

    def join(self) -> None:
        for thread in self._threads:
            thread.join(GIVE_UP_AFTER_S)

    def _client(self) -> None:
        while True:
            try:
                delivery = self._waiting.get_nowait()
            except Empty:
                return
            try:
                answer = self._deliver(delivery)
            except Exception as fault:  # noqa: BLE001 - the test reports it, in its own thread
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
                response = delivery.send(url)
            except httpx.TransportError:
                self.retries += 1
                self._address.is_lost(url)
                continue
            if response.status_code < 300 and response.json()["state"] != "ACCEPTED":
                answer: dict[str, Any] = response.json()
                return answer
            assert response.status_code in (200, 202, 503), response.text
            self._address.is_lost(url)
