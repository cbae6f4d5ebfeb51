"""A real PostgreSQL that lives with the gateway: no installation, no administrator."""

from __future__ import annotations

import atexit
import os
import random
import secrets
import shutil
import socket
import time
from collections.abc import Sequence
from pathlib import Path

import psutil
import psycopg
import structlog
from psycopg import sql
from sqlalchemy import URL

from service.adapters.file_lock import FileLock, exclusive
from service.adapters.postgres_programs import PostgresPrograms, ProgramFailed, cure
from service.errors import CannotStart

HOST = "127.0.0.1"
USER = "postgres"
STARTS_WAIT_S = 90.0
ANSWER_WITHIN_S = 60.0
ATTEMPTS = 5
POLL_S = 0.1
PORTS = range(20_000, 30_000)
# TCP on the loopback only, since Spark's JVM speaks nothing else; no Unix socket, whose path may be too long.
OPTIONS = "-c listen_addresses=127.0.0.1 -c unix_socket_directories= -c max_connections=200"

log = structlog.get_logger(__name__)


class EmbeddedPostgres:
    """The running server. It stops when the last process that started it has stopped.

    Only this user can read its password, and only who knows the password can connect.
    """

    def __init__(
        self, directory: Path, programs: PostgresPrograms, port: int, password: str, in_use: FileLock
    ) -> None:
        self.host = HOST
        self.port = port
        self.user = USER
        self.password = password
        self._directory = directory
        self._programs = programs
        self._in_use = in_use
        self._process_id = os.getpid()
        self._is_stopped = False

    @classmethod
    def start(cls, directory: Path, databases: Sequence[str] = ("sluice", "lake")) -> EmbeddedPostgres:
        """Starts the server on `directory`, or joins the one that runs on it already.

        What a killed gateway left behind, a running server included, is put right.

        Raises:
            CannotStart: with the cure.
        """
        directory = directory.expanduser().absolute()
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with exclusive(directory / "start.lock", STARTS_WAIT_S):
                server = _started(directory)
                server.make(databases)
        except TimeoutError as error:
            raise CannotStart(
                f"Another process is starting PostgreSQL on {directory}; wait for it."
            ) from error
        except (ProgramFailed, OSError, psycopg.Error) as error:
            raise CannotStart(f"PostgreSQL cannot start on {directory}. {cure(str(error))}") from error
        atexit.register(server.stop)
        return server

    def make(self, databases: Sequence[str]) -> None:
        """Makes the databases that are missing; leaves the server if it cannot.

        Raises:
            psycopg.Error: the server does not answer, or not to us.
        """
        try:
            with _connect(self.port, self.password) as connection:
                for each in databases:
                    _make_database(connection, each)
        except psycopg.Error:
            self._leave()
            raise

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
        try:
            with exclusive(self._directory / "start.lock", STARTS_WAIT_S):
                self._leave()
        except OSError as error:
            log.warning("embedded PostgreSQL did not stop", reason=cure(str(error)))

    def _leave(self) -> None:
        # Under the start lock: nobody can join a server that is about to stop.
        try:
            if self._in_use.try_exclusive() and _running_port(self._directory) is not None:
                arguments = ("-D", str(self._directory / "data"), "-m", "fast", "-w", "stop")
                self._programs.run("pg_ctl", *arguments, work_directory=self._directory)
        except ProgramFailed as error:
            log.warning("embedded PostgreSQL did not stop", reason=cure(str(error)))
        finally:
            self._in_use.close()


def _started(directory: Path) -> EmbeddedPostgres:
    programs = PostgresPrograms.find(directory / "data")
    programs.open_the_way_to(directory)
    programs.own(directory)
    directory.chmod(0o700)
    in_use = FileLock(directory / "in-use.lock")
    in_use.try_shared()
    try:
        password = _password(directory, programs)
        _initialize(directory, programs)
        port = _port_of_running(directory, password) or _launch(directory, programs)
    except BaseException:
        in_use.close()
        raise
    return EmbeddedPostgres(directory, programs, port, password, in_use)


def _password(directory: Path, programs: PostgresPrograms) -> str:
    path = directory / "password"
    if not path.exists():
        if (directory / "data").exists():
            raise CannotStart(f"{path} is missing; put it back, or remove {directory} and the data in it.")
        # Written beside and renamed, so that a start that is cut off here leaves no half password.
        new = directory / "password.new"
        new.touch(0o600)
        new.write_text(secrets.token_urlsafe(32))
        programs.own(new)
        new.rename(path)
    return path.read_text()


def _initialize(directory: Path, programs: PostgresPrograms) -> None:
    if (directory / "data").exists():
        return
    for each in directory.glob("data.new.*"):
        shutil.rmtree(each, ignore_errors=True)
    # Made under a name of its own and renamed, so that a start that is cut off here leaves no half server.
    new = directory / f"data.new.{secrets.token_hex(4)}"
    authentication = ("--auth=scram-sha-256", f"--pwfile={directory / 'password'}", f"--username={USER}")
    text = ("--encoding=UTF8", "--no-locale", "--set=timezone=UTC", "--set=log_timezone=UTC")
    programs.run("initdb", *authentication, *text, f"--pgdata={new}", work_directory=directory)
    new.rename(directory / "data")


def _launch(directory: Path, programs: PostgresPrograms) -> int:
    # A port may be taken after we chose it, and the backends of a killed server take a moment to go.
    for attempt in range(ATTEMPTS):
        (directory / "data" / "postmaster.pid").unlink(missing_ok=True)
        (directory / "log").unlink(missing_ok=True)
        port = _free_port(directory / "port")
        arguments = ("-D", str(directory / "data"), "-l", str(directory / "log"), "-w", "-s")
        try:
            programs.run(
                "pg_ctl", *arguments, "-o", f"{OPTIONS} -p {port}", "start", work_directory=directory
            )
            (directory / "port").write_text(str(port))
            return port
        except ProgramFailed as error:
            said = _read(directory / "log") or str(error)
            if attempt == ATTEMPTS - 1 or not ("in use" in said or "still in use" in said):
                raise ProgramFailed(said) from error
            time.sleep(1)
    raise AssertionError("the last attempt returns or raises")


def _running_port(directory: Path) -> int | None:
    lines = _read(directory / "data" / "postmaster.pid").splitlines()
    if len(lines) < 4 or not lines[0].isdigit():
        return None
    try:
        process = psutil.Process(int(lines[0]))
        # After a reboot the number may belong to any process: only PostgreSQL on this directory counts.
        is_ours = str(directory / "data") in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return None
    return int(lines[3]) if is_ours else None


def _port_of_running(directory: Path, password: str) -> int | None:
    # One that starts, recovers or stops just now is waited for.
    deadline = time.monotonic() + ANSWER_WITHIN_S
    while (port := _running_port(directory)) is not None:
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


def _free_port(remembered: Path) -> int:
    # The port of the last time, if it is free, so that those who still know it find the server again.
    # Otherwise one that the system does not give to clients: trying to connect, they could get it.
    earlier = [int(each) for each in [_read(remembered)] if each]
    wanted = [*earlier, *random.sample(PORTS, 50), 0]
    for port in wanted:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, port))
                return int(probe.getsockname()[1])
            except OSError:
                continue
    raise OSError("no free port")


def _read(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
