"""A real server on a free port over fakes: its ingests are the service's own, its queries are DuckDB's.

So client and gateway cannot drift apart without a failing test.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import httpx
import pyarrow as pa
from fastapi import FastAPI

from api.bootstrap.settings import Settings
from api.http.app import create_app
from api.http.http_server import bind, server_of, tls_context, url_of
from service.errors.session_errors import SessionRequired
from service.errors.statement_errors import SqlInvalid
from service.errors.table_errors import TableNotFound
from service.model.ingest.writing import WritableTable
from service.model.policies.decisions import Access
from service.model.query.query import QueryRequest
from service.model.tables.schemas import Field, ListOf, Primitive, Struct
from service.query.query_service import Submission
from tests.fakes.gateway import FakeGateway
from tests.fakes.ingest_service import FakeIngests
from tests.fakes.queries import FakeQueries
from tests.fakes.sessions import fake_sessions
from tests.polling import until
from tests.unit.ingest.wide_table import with_columns

HOST = "127.0.0.1"
PATIENCE_S = 20
_TYPES = {"int32": "INT", "int64": "BIGINT", "string": "STRING", "double": "DOUBLE", "date32[day]": "DATE"}
EVENTS = with_columns(
    Field(1, "event_time", Primitive("timestamptz")),
    Field(2, "log_type", Primitive("string")),
    Field(3, "user_id", Primitive("long")),
    Field(4, "price", Primitive("decimal(9, 2)")),
    Field(5, "payload", Primitive("binary")),
    Field(6, "day", Primitive("date")),
    Field(7, "share", Primitive("double")),
    Field(8, "tags", ListOf(Field(81, "element", Primitive("string")))),
    Field(9, "place", Struct((Field(91, "city", Primitive("string")),))),
    Field(10, "is_new", Primitive("boolean")),
)


class DuckQueries(FakeQueries):
    """Each query is run by DuckDB, in one database for all of them. Its errors are `SQL_INVALID`."""

    def __init__(self) -> None:
        super().__init__(chunk_rows=2)
        self.database = duckdb.connect()
        self.answers: dict[str, pa.Table] = {}
        """Rows of texts that are not run."""
        self._rows_by_request: dict[str, pa.Table] = {}
        self._lock = threading.Lock()

    def submit(
        self, request: QueryRequest, caller: str, access: Access, roles: Collection[str] = ()
    ) -> Submission:
        with self._lock:
            if _changes_session(request.sql):
                # Whether it has an effect is tested on a real engine.
                self.answers[request.sql] = pa.table({})
                self.failures.pop(request.sql, None)
                if request.session is None:
                    self.failures[request.sql] = SessionRequired()
            try:
                self._rows_by_request[request.fingerprint()] = self._run(request)
            except duckdb.CatalogException as error:
                self.failures[request.sql] = TableNotFound(str(error).splitlines()[0][:60])
            except duckdb.Error as error:
                self.failures[request.sql] = SqlInvalid(str(error).splitlines()[0])
        return super().submit(request, caller, access, roles)

    def rows_of(self, request: QueryRequest) -> pa.Table:
        return self._rows_by_request.get(request.fingerprint(), self.rows)

    @staticmethod
    def type_name(kind: pa.DataType) -> str:
        return (
            _TYPES.get(str(kind))
            or re.sub(r"^decimal128\((\d+), (\d+)\)$", r"DECIMAL(\1,\2)", str(kind)).upper()
        )

    def _run(self, request: QueryRequest) -> pa.Table:
        if request.sql in self.answers:
            return self.answers[request.sql]
        sent = request.parameters
        values: Any
        if isinstance(sent, Mapping):
            values = {name: parameter.value for name, parameter in sent.items()}
        else:
            values = [parameter.value for parameter in sent]
        sql = re.sub(r":(\w+)", r"$\1", request.sql) if isinstance(sent, Mapping) and sent else request.sql
        if _is_command(request.sql):
            # A gateway reports no columns for a statement without rows.
            self.database.execute(sql, values or None)
            return pa.table({})
        return self.database.sql(sql, params=values or None).to_arrow_table()

    def close(self) -> None:
        super().close()
        self.database.close()


def _changes_session(sql: str) -> bool:
    return sql.lower().startswith(("use ", "set "))


def _is_command(sql: str) -> bool:
    return sql.lower().startswith(("create", "drop", "insert"))


@dataclass
class Served:
    """A server, and the parts behind it that tests look into."""

    url: str
    queries: DuckQueries
    ingests: FakeIngests
    gateway: FakeGateway

    def written(self) -> list[dict[str, Any]]:
        """Returns all rows that were written, without columns that are null."""
        rows = [row for file in self.ingests.files.files.values() for row in file]
        return [{name: value for name, value in row.items() if value is not None} for row in rows]


@contextmanager
def serving(gateway: FakeGateway | None = None, /, **options: Any) -> Iterator[tuple[str, FakeGateway]]:
    """Serves a gateway, and yields its address."""
    settings = Settings(**({"shutdown_timeout_s": 0} | options))
    gateway = FakeGateway() if gateway is None else gateway
    with bind(HOST, 0) as listening, serving_app(settings, create_app(settings, lambda: gateway), listening):
        yield url_of(listening, settings), gateway


@contextmanager
def serving_app(settings: Settings, app: FastAPI, listening: socket.socket) -> Iterator[None]:
    """Serves an app at an address that is bound already."""
    server = server_of(settings, app, context=tls_context(settings))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        until(lambda: _is_ready(url_of(listening, settings)))
        yield
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def furnished(url: str, gateway: FakeGateway, *tables: WritableTable) -> Iterator[Served]:
    """Gives a gateway queries and ingests of its own, with these tables to write to, and no query yet."""
    ingests = FakeIngests(*(tables or (EVENTS,)))
    queries = DuckQueries()
    gateway.queries = queries
    gateway.recorded.clear()
    gateway.use_sessions(fake_sessions())
    gateway.ingests = ingests  # type: ignore[assignment]  # the service itself, over fakes
    try:
        yield Served(url, queries, ingests, gateway)
    finally:
        queries.close()
        ingests.close(PATIENCE_S)


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz", verify=False, trust_env=False).status_code < 500
    except httpx.TransportError:
        return False
