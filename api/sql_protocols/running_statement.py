"""A statement that was accepted: its state, its rows, its end."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from api.sql_protocols.failures import Failure, failure_of, recorded_failure
from service.errors.query_errors import QueryNotFound, ResultExpired, ResultTooLarge
from service.gateway import Gateway
from service.model.query.progress import QueryProgress
from service.model.query.query import QueryState
from service.model.query.results import Manifest
from service.query.registry.query_status import QueryStatus

if TYPE_CHECKING:
    import pyarrow as pa

POLL_S = 1.0
"""The longest wait at once: a cancel, or a client that goes, is noticed within it."""
_CUT = "The result has more rows or bytes than this gateway returns for one statement. Ask for fewer."


@dataclass(frozen=True, slots=True)
class StatementStatus:
    """How a statement stands. `failure` is set once it has failed or was canceled.

    `state` is FAILED also if the result was cut: then nothing of it is returned.
    """

    state: QueryState
    failure: Failure | None
    elapsed_ms: int
    progress: QueryProgress | None
    manifest: Manifest | None

    @property
    def is_final(self) -> bool:
        """Whether nothing of it changes any more."""
        return self.state.is_final


class RunningStatement:
    """A statement of one caller. Any thread may call any method.

    Each raises QueryNotFound or MetricsStoreDown where a query's status cannot be read.
    """

    def __init__(
        self, gateway: Callable[[], Gateway], caller: str, operation_id: UUID, query_id: UUID
    ) -> None:
        self._gateway = gateway
        self._caller = caller
        self.operation_id = operation_id
        self.query_id = query_id

    @property
    def finished(self) -> Future[None]:
        """Resolves when the statement has ended. All who wait share it: never cancel it."""
        return self._gateway().queries.finished(self.query_id)

    def wait(self, seconds: float = POLL_S) -> bool:
        """Waits in this thread, for a second at most, and returns whether the statement has ended."""
        finished = self.finished
        concurrent.futures.wait([finished], min(seconds, POLL_S))
        return finished.done()

    def status(self) -> StatementStatus:
        """Returns how the statement stands now."""
        found = self._gateway().queries.status(self.query_id, self._caller)
        failure = _failure(found)
        state = found.record.state
        if failure is not None and state is QueryState.SUCCEEDED:
            state = QueryState.FAILED
        return StatementStatus(state, failure, found.elapsed_ms, found.progress, found.manifest)

    def manifest(self) -> Manifest:
        """Returns the shape of the result, once the statement has succeeded.

        Raises:
            ResultTooLarge: the result was cut, so that it is none.
            ResultExpired: it is gone.
        """
        found = self._gateway().queries.status(self.query_id, self._caller)
        if found.manifest is None:
            raise ResultExpired
        if found.manifest.is_truncated:
            raise ResultTooLarge(_CUT)
        return found.manifest

    def schema(self) -> pa.Schema:
        """Returns the schema of the rows, as they lie. It has no columns if the statement returns none.

        Raises:
            ResultTooLarge, ResultExpired: see `manifest`.
        """
        return self.chunk(0).schema

    def chunk(self, index: int) -> pa.Table:
        """Returns the rows of one chunk, as they lie; the same on every call.

        Raises:
            ResultExpired: the result is gone.
            ChunkNotFound: there is no such chunk.
        """
        return self._gateway().queries.results.chunk(self.query_id, index, self._caller).rows

    def chunks(self) -> Iterator[pa.Table]:
        """Yields all chunks in order; at least one, which may have no rows.

        Raises:
            ResultTooLarge, ResultExpired: see `manifest`.
        """
        for chunk in self.manifest().chunks:
            yield self.chunk(chunk.index)

    def cancel(self) -> None:
        """Asks the statement to end. Does nothing if it has ended, or is not known any more."""
        try:
            self._gateway().queries.cancel(self.query_id, self._caller)
        except QueryNotFound:
            return


def _failure(found: QueryStatus) -> Failure | None:
    if found.failure is not None:
        return failure_of(found.failure)
    if found.record.error is not None:
        return recorded_failure(found.record.error)
    if found.manifest is not None and found.manifest.is_truncated:
        return failure_of(ResultTooLarge(_CUT))
    return None
