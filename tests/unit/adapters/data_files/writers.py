"""The writer under test. The `writer` fixture says where it runs, so the same tests can run elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

import pyarrow as pa
import pytest

from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.writer.write import write_data_files
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.model.ingest.writing import WriteResult, WriteTarget
from tests.unit.adapters.data_files.states import target_of


class Writer(Protocol):
    def __call__(
        self, state: WriterState, target: WriteTarget, batches: Iterable[pa.RecordBatch], bounds: WriteBounds
    ) -> WriteResult: ...


class Write(Protocol):
    def __call__(
        self,
        state: WriterState,
        column_ids: tuple[int, ...] | None,
        batches: Iterable[pa.RecordBatch],
        bounds: WriteBounds | None = None,
    ) -> WriteResult: ...


class Upsert(Protocol):
    def __call__(
        self,
        state: WriterState,
        keys: tuple[int, ...],
        *batches: pa.RecordBatch,
        columns: tuple[int, ...] | None,
        bounds: WriteBounds | None = None,
    ) -> WriteResult: ...


@pytest.fixture
def writer() -> Writer:
    """Writes in this process."""
    return write_data_files


@pytest.fixture
def write(writer: Writer) -> Write:
    def written(
        state: WriterState,
        column_ids: tuple[int, ...] | None,
        batches: Iterable[pa.RecordBatch],
        bounds: WriteBounds | None = None,
    ) -> WriteResult:
        return writer(state, target_of(state, column_ids), batches, bounds or WriteBounds())

    return written


@pytest.fixture
def upsert(writer: Writer) -> Upsert:
    def upserted(
        state: WriterState,
        keys: tuple[int, ...],
        *batches: pa.RecordBatch,
        columns: tuple[int, ...] | None,
        bounds: WriteBounds | None = None,
    ) -> WriteResult:
        target = replace(target_of(state, columns), is_upsert=True, equality_field_ids=keys)
        return writer(state, target, batches, bounds or WriteBounds())

    return upserted
