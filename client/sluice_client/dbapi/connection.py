"""A connection of PEP 249."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import NoReturn, Self, Unpack

import httpx

from sluice_client import connection as client_connection
from sluice_client.connecting import ConnectOptions
from sluice_client.dbapi import exceptions
from sluice_client.dbapi.cursor import Cursor
from sluice_client.errors import SluiceError
from sluice_client.options import QueryOptions
from sluice_client.querying import Querying
from sluice_client.session_calls import SessionOptions
from sluice_client.sessions.session import Session


def connect(
    url: str,
    *,
    query_options: QueryOptions | None = None,
    session: bool | SessionOptions = False,
    transport: httpx.BaseTransport | None = None,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
    **options: Unpack[ConnectOptions],
) -> Connection:
    """Returns a connection. Nothing is sent yet.

    Args:
        url: the gateway's address.
        query_options: for each query, such as `{"row_limit": 1_000_000, "timeout_s": 60}`.
        session: whether all statements share a session, so that `USE` and `SET` change those that follow; or
            the values that it begins with. The first statement creates it, and `close` ends it.
        transport: how HTTP is spoken, instead of over a network.
        now: seconds, monotonic.
        sleep: waits for seconds.
        options: see `sluice_client.connect`. Progress is not shown unless `progress` is true.

    Raises:
        InterfaceError: an argument is not valid.
    """
    chosen: ConnectOptions = {"progress": False, **options}
    try:
        client = client_connection.connect(url, transport=transport, now=now, sleep=sleep, **chosen)
    except (ValueError, OSError) as error:
        raise exceptions.InterfaceError(str(error)) from error
    shared = None if session is False else client.session(**({} if session is True else session))
    return Connection(client, query_options or {}, shared)


class Connection:
    """Makes cursors. Threads may share it. There are no transactions: each query is on its own.

    With a session, send its statements one after the other.
    """

    Warning = exceptions.Warning
    Error = exceptions.Error
    InterfaceError = exceptions.InterfaceError
    DatabaseError = exceptions.DatabaseError
    DataError = exceptions.DataError
    OperationalError = exceptions.OperationalError
    IntegrityError = exceptions.IntegrityError
    InternalError = exceptions.InternalError
    ProgrammingError = exceptions.ProgrammingError
    NotSupportedError = exceptions.NotSupportedError

    def __init__(
        self,
        client: client_connection.Connection,
        query_options: QueryOptions,
        session: Session | None = None,
    ) -> None:
        self._client = client
        self._session = session
        self._query_options = query_options
        self._is_closed = False

    @property
    def client(self) -> client_connection.Connection:
        """The client's own connection, for what PEP 249 does not have."""
        return self._client

    @property
    def session(self) -> Session | None:
        """The session that all statements share, if there is one."""
        return self._session

    def queries(self) -> Querying:
        """Returns what statements are sent with; the first call creates the session.

        Raises:
            SluiceError: it cannot be created.
        """
        return self._client if self._session is None else self._session.open()

    @property
    def query_options(self) -> QueryOptions:
        """The options of each query of this connection."""
        return self._query_options

    def cursor(self) -> Cursor:
        """Returns a new cursor."""
        self.check_open()
        return Cursor(self)

    def commit(self) -> None:
        """Does nothing: a query changes nothing."""
        self.check_open()

    def rollback(self) -> NoReturn:
        """Raises NotSupportedError: there are no transactions."""
        self.check_open()
        raise exceptions.NotSupportedError("a gateway has no transactions")

    def close(self) -> None:
        """Closes the connection and its cursors, and ends its session.

        Raises:
            InterfaceError: it is closed already.
        """
        self.check_open()
        self._is_closed = True
        try:
            if self._session is not None:
                # The gateway ends a session that is not used.
                with suppress(SluiceError):
                    self._session.close()
        finally:
            self.client.close()

    def check_open(self) -> None:
        """Checks that the connection can be used.

        Raises:
            InterfaceError: it is closed.
        """
        if self._is_closed:
            raise exceptions.InterfaceError("the connection is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_closed:
            self.close()

    def __repr__(self) -> str:
        return f"<DB-API connection to {self.client.url}{', closed' if self._is_closed else ''}>"
