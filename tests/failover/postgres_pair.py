"""Two PostgreSQL servers, one of which follows the other; both can be lost."""

from __future__ import annotations

import secrets
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import psycopg

from service.adapters.embedded.postgres_programs import PostgresPrograms, ProgramFailed
from tests.polling import until

HOST, USER = "127.0.0.1", "postgres"
ATTEMPTS = 3


class Server:
    """One of the two servers. Nothing restarts it when it is lost."""

    def __init__(self, programs: PostgresPrograms, folder: Path, password: str) -> None:
        self.port = free_port()
        self._programs, self._folder, self.password = programs, folder, password
        self._data = folder / "data"
        folder.mkdir(parents=True)
        programs.own(folder)
        programs.open_the_way_to(folder)

    @property
    def url(self) -> str:
        """The URL of this server alone."""
        return f"postgresql://{USER}:{self.password}@{HOST}:{self.port}/{USER}"

    def make(self) -> None:
        """Initializes an empty server."""
        path = self._folder / "password"
        path.write_text(self.password)
        self._programs.own(path)
        who = ("--auth=scram-sha-256", f"--pwfile={path}", f"--username={USER}")
        text = ("--encoding=UTF8", "--no-locale")
        self._run("initdb", *who, *text, f"--pgdata={self._data}")

    def follow(self, primary: Server) -> None:
        """Makes this server a copy of the other one, which it follows once it is started."""
        self._run("pg_basebackup", f"--dbname={primary.url}", f"--pgdata={self._data}", "-R", "-c", "fast")

    def start(self, *, waits_for_a_standby: bool) -> None:
        """Starts the server, and returns once it answers."""
        names = "*" if waits_for_a_standby else ""
        options = (
            f"-c listen_addresses={HOST} -c unix_socket_directories= -p {self.port} -c max_connections=200"
            f" -c synchronous_standby_names={names or chr(39) * 2}"
        )
        where = ("-D", str(self._data), "-l", str(self._folder / "log"))
        self._run("pg_ctl", *where, "-w", "-s", "-o", options, "start")

    def stop(self, mode: str) -> None:
        """Stops it as `pg_ctl` does: `immediate` is a crash; `fast` closes connections and writes all."""
        self._run("pg_ctl", "-D", str(self._data), "-m", mode, "-w", "-t", "20", "stop")

    def promote(self) -> None:
        """Promotes the server, which accepts writes from now on."""
        self._run("pg_ctl", "-D", str(self._data), "-w", "promote")

    def pause(self) -> None:
        """Makes it accept connections without an answer."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def end(self) -> None:
        """Ends the server, whatever state it is in."""
        with suppress(ProgramFailed, psutil.Error, OSError, ValueError):
            self.resume()
            self.stop("immediate")

    def ask(self, query: str) -> object:
        """Returns the single value of a query."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            row = connection.execute(query.encode()).fetchone()
            return None if row is None else row[0]

    def _signal(self, number: signal.Signals) -> None:
        main = psutil.Process(int((self._data / "postmaster.pid").read_text().split("\n", 1)[0]))
        for process in [main, *main.children(recursive=True)]:
            with suppress(psutil.Error):
                process.send_signal(number)

    def _run(self, program: str, *arguments: str) -> None:
        self._programs.run(program, *arguments, work_directory=self._folder)


class Pair:
    """A server `first` that accepts writes, and `second`, which follows it until it is promoted."""

    def __init__(self, folder: Path) -> None:
        self.password = secrets.token_hex(16)
        programs = PostgresPrograms.find(folder / "nobody")
        self.first, self.second = (Server(programs, folder / name, self.password) for name in ("one", "two"))

    def url(self, options: str = "") -> str:
        """Returns a URL with both hosts."""
        hosts = ",".join(f"{HOST}:{server.port}" for server in (self.first, self.second))
        return f"postgresql://{USER}:{self.password}@{hosts}/{USER}{options}"

    def start(self, *, is_synchronous: bool) -> None:
        self.first.make()
        self.first.start(waits_for_a_standby=False)
        self.second.follow(self.first)
        self.second.start(waits_for_a_standby=False)
        until(lambda: self.first.ask("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"))
        if is_synchronous:
            self.first.stop("fast")
            self.first.start(waits_for_a_standby=True)
            until(
                lambda: self.first.ask("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
            )

    def end(self) -> None:
        for server in (self.first, self.second):
            server.end()


@contextmanager
def postgres_pair(folder: Path, *, is_synchronous: bool = True) -> Iterator[Pair]:
    """Runs both servers, and stops them at the end in any case."""
    pair = Pair(folder)
    try:
        pair.start(is_synchronous=is_synchronous)
        yield pair
    finally:
        pair.end()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
