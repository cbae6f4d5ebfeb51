"""The async twin of `Connection`, for asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, Unpack
from uuid import UUID

import httpx

from sluice_client.async_browsing import AsyncBrowsing
from sluice_client.async_querying import AsyncQuerying
from sluice_client.connecting import ConnectOptions, connected
from sluice_client.drivers.async_driver import AsyncDriver
from sluice_client.errors import ConnectionClosed
from sluice_client.ingest.choose_body import IngestData, choose_body
from sluice_client.ingest.file_types import Compression, FileFormat
from sluice_client.ingest.ingest_answer import IngestResult
from sluice_client.ingest.ingest_request import IngestRequest
from sluice_client.ingest.run_ingest import await_commit, get_ingest, run_ingest
from sluice_client.options import IngestOptions
from sluice_client.progress.choose_progress import choose_progress
from sluice_client.query.query_answer import QueryStatus
from sluice_client.query.run_query import await_query, cancel_query, cancel_request, get_query
from sluice_client.results.async_result import AsyncResult
from sluice_client.session_calls import SessionOptions
from sluice_client.sessions.async_session import AsyncSession


def connect_async(
    url: str,
    *,
    transport: httpx.AsyncBaseTransport | None = None,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    **options: Unpack[ConnectOptions],
) -> AsyncConnection:
    """Returns a connection for asyncio: see `connect`. Close it after use, or use it in `async with`.

    Raises:
        ValueError: an argument is not valid.
        OSError: a file of a certificate cannot be read.
    """
    return AsyncConnection(url, transport=transport, now=now, sleep=sleep, **options)


class AsyncConnection(AsyncQuerying, AsyncBrowsing):
    """Queries, ingests and explanations of one gateway: see `Connection`.

    A canceled task cancels its query.
    """

    def __init__(
        self,
        url: str,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        **options: Unpack[ConnectOptions],
    ) -> None:
        checked = connected(url, options, now)
        driver = AsyncDriver(checked.http, transport=transport, now=now, sleep=sleep)
        super().__init__(driver, checked.context, checked.defaults, choose_progress(options.get("progress")))
        self._is_closed = False

    @property
    def url(self) -> str:
        """The gateway's address."""
        return self._context.base_url

    @property
    def catalog(self) -> str | None:
        """The catalog of names without one; None if it is the gateway's own."""
        return self._defaults.catalog

    @property
    def schema(self) -> str | None:
        """The schema of names without one; None if it is the gateway's own."""
        return self._defaults.schema

    async def result(self, query_id: UUID, *, allow_truncated: bool = False) -> AsyncResult:
        """Returns the result of a query that was sent before, when it has succeeded."""
        status = await self._run(await_query(query_id, None, self._context))
        return self._result(status, None, allow_truncated)

    async def status(self, query_id: UUID) -> QueryStatus:
        """Returns a query as it is now: see `Connection.status`."""
        return await self._run(get_query(query_id, None, self._context))

    async def cancel(self, query_id: UUID) -> None:
        """Cancels a query. Canceling it twice is fine."""
        await self._run(cancel_query(query_id, self._context))

    async def cancel_request(self, request_id: UUID) -> None:
        """Cancels the query that was sent with this `request_id`, by whoever does not know its `query_id`.

        Raises:
            NotFound: no such query has arrived.
        """
        await self._run(cancel_request(request_id, self._context))

    def session(self, **options: Unpack[SessionOptions]) -> AsyncSession:
        """Returns a session, which `async with` creates and ends.

        Its queries share a catalog, a schema, settings and temporary views, which statements such as `USE`
        and `SET` change. The connection's own values count for those that are left out.

        Args:
            options: see `SessionOptions`.
        """
        return AsyncSession(
            self._driver,
            self._context,
            self._defaults.in_session(),
            self._progress,
            self._defaults.session(options),
            lambda: self._is_closed,
        )

    async def ingest(
        self,
        table: str,
        data: IngestData,
        *,
        format: FileFormat | None = None,  # noqa: A002 - as the gateway calls it
        compression: Compression | None = None,
        **options: Unpack[IngestOptions],
    ) -> IngestResult:
        """Writes records to a table, and returns when they are committed: see `Connection.ingest`.

        Records are encoded, and files are read, beside the event loop.
        """
        asked = IngestRequest(table=table, **options)
        body = await asyncio.to_thread(
            choose_body,
            data,
            file_format=format,
            compression=compression,
            memory_bytes=self._context.bounds.spool_memory_bytes,
        )
        return await self._run(run_ingest(asked, body, self._context))

    async def ingest_status(self, ingest_id: UUID, *, wait: bool = False) -> IngestResult:
        """Returns an ingest as it is now, or with `wait`, when it is committed."""
        result = await self._run(get_ingest(ingest_id, self._context))
        return await self._run(await_commit(result, self._context)) if wait else result

    async def close(self) -> None:
        """Closes all connections. Closing twice is fine."""
        self._is_closed = True
        await self._driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncConnection to {self.url}{', closed' if self._is_closed else ''}>"

    def _check_open(self) -> None:
        if self._is_closed:
            raise ConnectionClosed("the connection is closed")
