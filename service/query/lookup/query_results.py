"""The results of queries: chunk by chunk, or as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from service.errors.query_errors import ChunkNotFound, ResultExpired
from service.model.query.results import Chunk, Manifest, ResultFormat
from service.ports.stores.result_files import StoredFile
from service.query.execution.run_query import QueryPorts
from service.query.lookup.known_queries import KnownQueries
from service.query.lookup.query_statuses import QueryStatuses
from service.query.registry.awaited_records import AwaitedRecords
from service.query.registry.intake import Intake
from service.query.registry.query_registry import QueryRegistry

if TYPE_CHECKING:
    import pyarrow as pa

Form = Callable[[Iterator["pa.Table"]], Iterator[bytes]]
"""Makes a file of another format from the rows of a result, chunk by chunk."""


@dataclass(frozen=True, slots=True)
class ResultChunk:
    """One chunk of a result, with its manifest, and the format that its query asked for."""

    manifest: Manifest
    chunk: Chunk
    rows: pa.Table
    format: ResultFormat = ResultFormat.JSON


@dataclass(frozen=True, slots=True)
class ResultFile:
    """A whole result: its manifest, its bytes as they are kept, and the format that its query asked for.

    `stream` is None if this gateway keeps no such bytes. `formatted` is the result in the format that was
    asked for, if it was written in it before.
    """

    manifest: Manifest
    stream: StoredFile | None
    format: ResultFormat = ResultFormat.JSON
    formatted: StoredFile | None = None


class QueryResults:
    """Reads results for the callers of their queries. Any thread may call any method."""

    def __init__(
        self,
        known: KnownQueries,
        statuses: QueryStatuses,
        registry: QueryRegistry,
        ports: QueryPorts,
        awaited: AwaitedRecords,
        intake: Intake,
    ) -> None:
        self._known = known
        self._statuses = statuses
        self._registry = registry
        self._ports = ports
        self._awaited = awaited
        self._intake = intake

    def chunk(self, query_id: UUID, index: int, caller: str) -> ResultChunk:
        """Returns one chunk of the result; the same on every call.

        Raises:
            QueryNotFound: this caller has no such query.
            ResultExpired: the result is gone.
            ChunkNotFound: the result has no such chunk, or the query has no result.
        """
        manifest, own_format = self._result(query_id, caller)
        if not 0 <= index < len(manifest.chunks):
            raise ChunkNotFound(f"The result has the chunks 0 to {len(manifest.chunks) - 1}.")
        rows = self._rows(query_id, index)
        if index + 1 < len(manifest.chunks):
            self._intake.stir()
        return ResultChunk(manifest, manifest.chunks[index], rows, own_format)

    def file(self, query_id: UUID, caller: str, formatted_as: str = "") -> ResultFile:
        """Returns the whole result, as far as it is known without its rows.

        `formatted_as` is the name that its file of another format would have been written under.

        Raises:
            QueryNotFound, ResultExpired, ChunkNotFound: as `chunk`.
        """
        manifest, own_format = self._result(query_id, caller)
        ports = self._ports
        stream = None if ports.files is None else ports.files.open(query_id)
        formatted = None if ports.formatted is None else ports.formatted.find(query_id, formatted_as)
        self._intake.stir()
        return ResultFile(manifest, stream, own_format, formatted)

    def formatted(self, query_id: UUID, caller: str, formatted_as: str, form: Form) -> StoredFile | None:
        """Returns the result as a file of another format, and writes it first if it is not there.

        That reads all rows. None if this gateway keeps no such files.

        Raises:
            QueryNotFound, ResultExpired, ChunkNotFound: as `chunk`.
            GatewayError: as `FormattedFiles.write`; and what `form` raises.
        """
        manifest, _ = self._result(query_id, caller)
        files = self._ports.formatted
        if files is None:
            return None
        chunks = (self._rows(query_id, index) for index in range(len(manifest.chunks)))
        return files.find(query_id, formatted_as) or files.write(query_id, formatted_as, form(chunks))

    def _result(self, query_id: UUID, caller: str) -> tuple[Manifest, ResultFormat]:
        # Its row may still be open at another replica, though its caller knows that it has ended.
        status = self._awaited.found(
            lambda: self._statuses.of(query_id, caller),
            lambda found: found.record.state.is_final or self._known.is_held(query_id),
        )
        if not status.record.state.is_final or status.failure is not None or status.record.error is not None:
            raise ChunkNotFound("The query has no result.")
        if status.manifest is None:
            raise ResultExpired
        return status.manifest, status.format

    def _rows(self, query_id: UUID, index: int) -> pa.Table:
        try:
            return self._ports.results.chunk(query_id, index)
        except ResultExpired:
            query = self._registry.find(query_id)
            if query is not None:
                self._registry.lose_result(query)
            raise
