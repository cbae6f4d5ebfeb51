"""A connection to a gateway, for blocking code."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, Unpack
from uuid import UUID

import httpx

from sluice_client.browsing import Browsing
from sluice_client.connecting import ConnectOptions, connected
from sluice_client.drivers.sync_driver import SyncDriver
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
from sluice_client.querying import Querying
from sluice_client.results.result import Result
from sluice_client.session_calls import SessionOptions
from sluice_client.sessions.session import Session


def connect(
    url: str,
    *,
    transport: httpx.BaseTransport | None = None,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    **options: Unpack[ConnectOptions],
) -> Connection:
    """Returns a connection. Nothing is sent yet. Threads may share it; close it after use.

    Args:
        url: the gateway's address, such as `https://sluice.example.com`.
        transport: how HTTP is spoken, instead of over a network.
        now: seconds, monotonic.
        sleep: waits for seconds.
        options: see `ConnectOptions`.

    Raises:
        ValueError: an argument is not valid.
        OSError: a file of a certificate cannot be read.
    """
    return Connection(url, transport=transport, now=now, sleep=sleep, **options)


class Connection(Querying, Browsing):
    """Queries, ingests and explanations of one gateway: see `connect`."""

    def __init__(
        self,
        url: str,
        *,
        transport: httpx.BaseTransport | None = None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        **options: Unpack[ConnectOptions],
    ) -> None:
        checked = connected(url, options, now)
        driver = SyncDriver(checked.http, transport=transport, now=now, sleep=sleep)
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

    def result(self, query_id: UUID, *, allow_truncated: bool = False) -> Result:
        """Returns the result of a query that was sent before, when it has succeeded.

        Raises:
            NotFound: there is no such query.
            QueryFailed: it failed.
        """
        status = self._run(await_query(query_id, None, self._context))
        return self._result(status, None, allow_truncated)

    def status(self, query_id: UUID) -> QueryStatus:
        """Returns a query as it is now. A failed query has an `error` there.

        Raises:
            NotFound: there is no such query.
        """
        return self._run(get_query(query_id, None, self._context))

    def cancel(self, query_id: UUID) -> None:
        """Cancels a query. Canceling it twice is fine.

        Raises:
            NotFound: there is no such query.
        """
        self._run(cancel_query(query_id, self._context))

    def cancel_request(self, request_id: UUID) -> None:
        """Cancels the query that was sent with this `request_id`, by whoever does not know its `query_id`.

        Raises:
            NotFound: no such query has arrived.
        """
        self._run(cancel_request(request_id, self._context))

    def session(self, **options: Unpack[SessionOptions]) -> Session:
        """Returns a session, which `with` creates and ends.

        Its queries share a catalog, a schema, settings and temporary views, which statements such as `USE`
        and `SET` change. The connection's own values count for those that are left out.

        Args:
            options: see `SessionOptions`.
        """
        return Session(
            self._driver,
            self._context,
            self._defaults.in_session(),
            self._progress,
            self._defaults.session(options),
            lambda: self._is_closed,
        )

    def ingest(
        self,
        table: str,
        data: IngestData,
        *,
        format: FileFormat | None = None,  # noqa: A002 - as the gateway calls it
        compression: Compression | None = None,
        **options: Unpack[IngestOptions],
    ) -> IngestResult:
        """Writes records to a table, and returns when they are committed. Every retry is safe.

        Args:
            table: catalog.schema.table.
            data: dictionaries, Arrow, a data frame, the path of a file, or a file open in binary mode.
            format: of a file whose name does not say it.
            compression: of a file whose name does not say it.
            options: see `IngestOptions`.

        Raises:
            RecordsInvalid: records do not fit. Nothing was written.
            IngestFailed: the commit of an accepted ingest failed.
            TimedOut: the commit did not come in time. It will come.
            DataNotSupported: this data cannot be sent.
        """
        asked = IngestRequest(table=table, **options)
        memory_bytes = self._context.bounds.spool_memory_bytes
        body = choose_body(data, file_format=format, compression=compression, memory_bytes=memory_bytes)
        return self._run(run_ingest(asked, body, self._context))

    def ingest_status(self, ingest_id: UUID, *, wait: bool = False) -> IngestResult:
        """Returns an ingest as it is now, or with `wait`, when it is committed.

        Raises:
            NotFound: there is no such ingest.
            IngestFailed: with `wait`, its commit failed.
        """
        result = self._run(get_ingest(ingest_id, self._context))
        return self._run(await_commit(result, self._context)) if wait else result

    def close(self) -> None:
        """Closes all connections. Closing twice is fine. Queries and ingests that were sent go on."""
        self._is_closed = True
        self._driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Connection to {self.url}{', closed' if self._is_closed else ''}>"

    def _check_open(self) -> None:
        if self._is_closed:
            raise ConnectionClosed("the connection is closed")
