"""Data files that Spark's executors write, behind the port of files that are written in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.model.ingest.writing import Destination, WritableTable, WriteResult, WriteTarget
from service.ports.engine.executors import Executors
from service.ports.tables.data_files import DataFiles

T = TypeVar("T")
Pair = tuple[Destination, pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Sent(Iterable[T]):
    """Rows that are sent to an executor, and the error that ends them, if any."""

    rows: tuple[T, ...]
    failure: Exception | None

    @staticmethod
    def of(rows: Iterable[T]) -> Sent[T]:
        taken: list[T] = []
        try:
            taken.extend(rows)
        except Exception as failure:  # noqa: BLE001
            return Sent(tuple(taken), failure)
        return Sent(tuple(taken), None)

    def __iter__(self) -> Iterator[T]:
        yield from self.rows
        if self.failure is not None:
            raise self.failure


@dataclass(frozen=True, slots=True)
class ExecutedDataFiles:
    """Implements `service.ports.tables.data_files.DataFiles`: each call of `there` runs on an executor."""

    executors: Executors
    there: DataFiles

    def write(
        self, table: WritableTable, target: WriteTarget, batches: Iterable[pa.RecordBatch]
    ) -> WriteResult:
        result: WriteResult = executed(self.executors, self.there.write, table, target, Sent.of(batches))
        return result

    def write_all(self, rows: Iterable[Pair]) -> list[WriteResult]:
        results: list[WriteResult] = executed(self.executors, self.there.write_all, Sent.of(rows))
        return results

    def discard(self, table: WritableTable, result: WriteResult) -> None:
        executed(self.executors, self.there.discard, table, result)

    def target_bytes(self, table: WritableTable) -> int:
        return self.there.target_bytes(table)

    def key_parts(
        self, destination: Destination, rows: pa.RecordBatch, count: int
    ) -> list[tuple[int, pa.RecordBatch]]:
        found: list[tuple[int, pa.RecordBatch]] = executed(
            self.executors, partial(_listed, self.there.key_parts), destination, rows, count
        )
        return found


@dataclass(frozen=True, slots=True)
class ExecutedWriter:
    """Calls the writer's function on an executor."""

    executors: Executors

    def __call__(
        self, state: WriterState, target: WriteTarget, batches: Iterable[pa.RecordBatch], bounds: WriteBounds
    ) -> WriteResult:
        result: WriteResult = executed(
            self.executors, _written, state.encoded(), target, Sent.of(batches), bounds
        )
        return result


def executed(executors: Executors, function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls the function on an executor, and returns its result or raises its error."""
    [(found, failure)] = executors.map(partial(_called, function), [arguments], "test")
    if failure is not None:
        raise failure
    return found


def _called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, Exception | None]:
    try:
        return function(*arguments), None
    except Exception as failure:  # noqa: BLE001
        return None, failure


def _listed(function: Callable[..., Iterable[Any]], *arguments: Any) -> list[Any]:
    return list(function(*arguments))


def _written(
    state: bytes, target: WriteTarget, batches: Iterable[pa.RecordBatch], bounds: WriteBounds
) -> WriteResult:
    return write_data_files(WriterState.decoded(state), target, batches, bounds)
