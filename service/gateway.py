"""The door of the house: everything that the HTTP edge may ask for."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from service.model.explanation import Explanation
from service.model.health import Readiness
from service.model.query import QueryRequest, QueryStatus
from service.model.results import Chunk, Manifest
from service.model.tables import TableFacts, TableName

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Submission:
    """A query that was taken in. `is_reused`: the same requestId had been sent before."""

    query_id: UUID
    is_reused: bool


@dataclass(frozen=True, slots=True)
class ResultChunk:
    """One chunk of a result, with the manifest that it belongs to."""

    manifest: Manifest
    chunk: Chunk
    rows: pa.Table


class Gateway:
    """Takes queries in, answers for them, and says what they read."""

    def submit(self, request: QueryRequest, caller: str) -> Submission: ...
    def finished(self, query_id: UUID) -> Future[None]: ...
    def status(self, query_id: UUID, caller: str) -> QueryStatus: ...
    def chunk(self, query_id: UUID, index: int, caller: str) -> ResultChunk: ...
    def cancel(self, query_id: UUID, caller: str) -> None: ...
    def explain(self, query_id: UUID, caller: str) -> Explanation: ...
    def tables(self, catalog: str | None = None, schema: str | None = None) -> Sequence[TableName]: ...
    def table(self, name: TableName) -> TableFacts: ...
    def readiness(self) -> Readiness: ...
    def close(self) -> None: ...
