"""Writes records that did not fit as rows of tables beside those that they were sent to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

import pyarrow as pa

from service.ingest.decoding.values.arrow_types import arrow_schema
from service.ingest.request_rows import Unfit
from service.ingest.write_schema.resolve_targets import resolve_target
from service.model.ingest.ingest_request import ColumnNames, IngestRequest, Write
from service.model.ingest.writing import Destination, TableKey
from service.model.tables.dead_letter_names import dead_letter_name
from service.model.tables.schemas import Field, Primitive
from service.model.tables.tables import TableName
from service.ports.tables.table_changes import DeadLetterTables

_STRING = Primitive("string")
FIELDS = (
    Field(1, "received_at", Primitive("timestamptz"), is_required=True),
    Field(2, "ingest_id", _STRING, is_required=True),
    Field(3, "request_id", _STRING),
    Field(4, "table_name", _STRING),
    Field(5, "branch", _STRING),
    Field(6, "position", _STRING),
    Field(7, "reason", _STRING),
    Field(8, "format", _STRING, is_required=True),
    Field(9, "payload", _STRING),
    Field(10, "payload_bytes", Primitive("binary")),
)
"""The fields of a dead letter; `payload_bytes` is the payload where it is not UTF-8."""
_MOST_BYTES = 4 * 1024**2


class DeadLetterSink(Protocol):
    """The handling of records that do not fit, where the others are written."""

    def take(self, unfit: Unfit) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        """Keeps the record, and yields rows that are ready to be written."""

    def rest(self) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        """Yields the rows that are not written yet."""


class DeferredDeadLetters:
    """A handler that keeps no record: another ingest writes dead letters, once the tables have their rows."""

    def take(self, unfit: Unfit) -> Iterator[tuple[Destination, pa.RecordBatch]]:  # noqa: ARG002
        """Yields nothing."""
        return iter(())

    def rest(self) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        """Yields nothing."""
        return iter(())


@dataclass(frozen=True, slots=True)
class DeadLettersOf:
    """A handler for the dead letters of these writes, and of records that have no route."""

    dead_letters: DeadLetterSink
    writes: frozenset[int]

    def take(self, unfit: Unfit) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        """Keeps the record if it is one of them, and yields rows that are ready to be written."""
        if unfit.write is None or unfit.write in self.writes:
            yield from self.dead_letters.take(unfit)

    def rest(self) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        """Yields the rows that are not written yet."""
        return self.dead_letters.rest()


class DeadLetters:
    """The dead letters of one ingest; records without a route go to those of the request's first table."""

    def __init__(
        self, ingest_id: UUID, received_at: datetime, request: IngestRequest, tables: DeadLetterTables
    ) -> None:
        self._ingest_id = str(ingest_id)
        self._request_id = None if request.request_id is None else str(request.request_id)
        self._received_at = received_at
        self._writes = request.writes
        self._tables = tables
        self._destinations: dict[TableName, Destination] = {}
        self._waiting: dict[TableName, list[dict[str, object]]] = {}
        self._waiting_bytes = 0

    def take(self, unfit: Unfit) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        """Keeps the record, and yields rows that are ready to be written."""
        name = dead_letter_name(self._writes[unfit.write or 0].key.table)
        self._waiting.setdefault(name, []).append(self._row(unfit))
        self._waiting_bytes += len(unfit.payload) + len(unfit.record.reason) + 512
        if self._waiting_bytes > _MOST_BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[tuple[Destination, pa.RecordBatch]]:
        """Yields the rows that are not written yet."""
        waiting, self._waiting, self._waiting_bytes = self._waiting, {}, 0
        for name, rows in waiting.items():
            yield self.destination(name), pa.RecordBatch.from_pylist(rows, arrow_schema(FIELDS))

    def destination(self, name: TableName) -> Destination:
        """Returns where dead letters of this name go."""
        if name not in self._destinations:
            table = self._tables.opened(name)
            write = Write(TableKey(name), (), ColumnNames(tuple(field.name for field in FIELDS)))
            self._destinations[name] = Destination(table, resolve_target(write, table))
        return self._destinations[name]

    def _row(self, unfit: Unfit) -> dict[str, object]:
        key = None if unfit.write is None else self._writes[unfit.write].key
        text, raw = _text_or_bytes(unfit.payload)
        values: Sequence[object] = (
            self._received_at,
            self._ingest_id,
            self._request_id,
            None if key is None else str(key.table),
            None if key is None else key.branch,
            _position(unfit),
            unfit.record.reason,
            unfit.record_format.value,
            text,
            raw,
        )
        return dict(zip((field.name for field in FIELDS), values, strict=True))


def _position(unfit: Unfit) -> str:
    """Returns all that is known of the position: with many files, a line or row alone is ambiguous."""
    record = unfit.record
    numbers = (("line", record.line), ("column", record.column), ("row", record.row))
    reported = (f"{name} {number}" for name, number in numbers if number is not None)
    return ", ".join(filter(None, (record.place, *reported)))


def _text_or_bytes(payload: bytes) -> tuple[str | None, bytes | None]:
    try:
        return payload.decode(), None
    except UnicodeDecodeError:
        return None, payload
