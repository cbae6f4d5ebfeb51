"""A real PostgreSQL that runs with the gateway: no installation, no administrator."""

from __future__ import annotations

import atexit
import os
import time
from collections.abc import Sequence
from pathlib import Path

import psycopg
import structlog
from psycopg import sql
from sqlalchemy import URL

from service.adapters.disk.file_lock import FileLock, exclusive
from service.adapters.embedded.postgres_directory import HOST, USER, PostgresDirectory
from service.adapters.embedded.postgres_programs import ProgramFailed, cure
from service.adapters.embedded.server_supervisor import ServerSupervisor
from service.errors.gateway_error import CannotStart

START_LOCK = "start.lock"
STARTS_WAIT_S = 90.0
STOP_WAIT_S = 5.0
ANSWER_WITHIN_S = 60.0
POLL_S = 0.1

log = structlog.get_logger(__name__)


class EmbeddedPostgres:
    """The running server. It stops when the last process that started it has stopped.

    If it dies, any of the processes that use it starts it again at the same address. Only this user can read
    its password, and only with the password can a client connect.
    """

    def __init__(self, directory: PostgresDirectory, port: int, password: str, in_use: FileLock) -> None:
        self.host = HOST
        self.port = port
        self.user = USER
        self.password = password
        self._directory = directory
        self._in_use = in_use
        self._process_id = os.getpid()
        self._is_stopped = False
        self._supervisor: ServerSupervisor | None = None

    @classmethod
    def start(cls, data_dir: Path, databases: Sequence[str] = ("sluice", "lake")) -> EmbeddedPostgres:
        """Starts the server on `data_dir`, or joins the one that already runs on it.

        It cleans up after a killed gateway, including a server that still runs. If root starts it, the server
        runs as a user of its own, which is allowed to pass through the directories above `data_dir`.

        Raises:
            CannotStart: with the cure.
        """
        path = data_dir.expanduser().absolute()
        try:
            path.mkdir(parents=True, exist_ok=True)
            with exclusive(path / START_LOCK, STARTS_WAIT_S):
                server = _started(path)
                server._make(databases)
        except TimeoutError as error:
            raise CannotStart(f"Another process is starting PostgreSQL on {path}; wait for it.") from error
        except (ProgramFailed, OSError, psycopg.Error) as error:
            raise CannotStart(f"PostgreSQL cannot start on {path}. {cure(str(error))}") from error
        server._supervise()
        atexit.register(server.stop)
        return server

    def url(self, database: str) -> str:
        """The database's address for SQLAlchemy, password included."""
        address = URL.create("postgresql+psycopg", USER, self.password, HOST, self.port, database)
        return address.render_as_string(hide_password=False)

    def stop(self) -> None:
        """Stops the server, unless another process uses it. May be called again; never raises."""
        if self._is_stopped or os.getpid() != self._process_id:
            return
        self._is_stopped = True
        atexit.unregister(self.stop)
        if self._supervisor is not None:
            self._supervisor.stop()
        try:
            with exclusive(self._directory.path / START_LOCK, STOP_WAIT_S):
                self._leave()
        except OSError as error:
            log.warning("embedded_server_not_stopped", server="PostgreSQL", reason=cure(str(error)))

    def _supervise(self) -> None:
        errors = (ProgramFailed, OSError, psycopg.Error)
        self._supervisor = ServerSupervisor("postgres", self._is_running, self._start_again, errors)

    def _is_running(self) -> bool:
        return self._directory.running_port() is not None

    def _start_again(self) -> None:
        with exclusive(self._directory.path / START_LOCK, STARTS_WAIT_S):
            # All users of the server know only this port.
            if _port_of_running(self._directory, self.password) is None:
                self._directory.launch(self.port)

    def _make(self, databases: Sequence[str]) -> None:
        try:
            with _connect(self.port, self.password) as connection:
                for database in databases:
                    _make_database(connection, database)
        except psycopg.Error:
            self._leave()
            raise

    def _leave(self) -> None:
        # Under the start lock: no process can join a server that is about to stop.
        try:
            if self._in_use.try_exclusive() and self._directory.running_port() is not None:
                self._directory.shut_down()
        except ProgramFailed as error:
            log.warning("embedded_server_not_stopped", server="PostgreSQL", reason=cure(str(error)))
        finally:
            self._in_use.close()


def _started(path: Path) -> EmbeddedPostgres:
    directory = PostgresDirectory(path)
    directory.own()
    in_use = FileLock(path / "in-use.lock")
    in_use.try_shared()
    try:
        password = directory.password()
        directory.initialize()
        port = _port_of_running(directory, password) or directory.launch()
    except BaseException:
        in_use.close()
        raise
    return EmbeddedPostgres(directory, port, password, in_use)


def _port_of_running(directory: PostgresDirectory, password: str) -> int | None:
    # Waits for a server that is starting, recovering or stopping.
    deadline = time.monotonic() + ANSWER_WITHIN_S
    while (port := directory.running_port()) is not None:
        try:
            _connect(port, password).close()
            return port
        except psycopg.OperationalError as error:
            if "password" in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(POLL_S)
    return None


def _make_database(connection: psycopg.Connection, name: str) -> None:
    found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
    if found.fetchone() is None:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def _connect(port: int, password: str) -> psycopg.Connection:
    return psycopg.connect(
        host=HOST,
        port=port,
        user=USER,
        password=password,
        dbname="postgres",
        autocommit=True,
        connect_timeout=5,
    )
