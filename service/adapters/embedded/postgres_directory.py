"""One PostgreSQL on disk: its data, password, port and log."""

from __future__ import annotations

import random
import secrets
import shutil
import socket
import time
from pathlib import Path

import psutil

from service.adapters.embedded.postgres_programs import PostgresPrograms, ProgramFailed
from service.errors.gateway_error import CannotStart

HOST = "127.0.0.1"
USER = "postgres"
ATTEMPTS = 5
STOP_WITHIN_S = 5
PORTS = range(20_000, 30_000)
# TCP on the loopback only, because Spark's JVM supports nothing else; no Unix socket, whose path may be too
# long.
OPTIONS = f"-c listen_addresses={HOST} -c unix_socket_directories= -c max_connections=200"


class PostgresDirectory:
    """The operations on the directory. The caller holds the start lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data = path / "data"
        self._log = path / "log"
        self._process_file = self._data / "postmaster.pid"
        self._programs = PostgresPrograms.find(self._data)

    def own(self) -> None:
        """Closes the directory to all but the user that PostgreSQL runs as.

        Raises:
            OSError: its owner or mode cannot be changed.
        """
        self._programs.open_the_way_to(self.path)
        self._programs.own(self.path)
        self.path.chmod(0o700)

    def password(self) -> str:
        """The superuser's password; created at the first start, readable only by its user.

        Raises:
            CannotStart: there is data, but its password is missing.
        """
        path = self.path / "password"
        if not path.exists():
            if self._data.exists():
                raise CannotStart(f"{path} is missing; put it back, or remove {self.path} and all its data.")
            # Written to another file and renamed, so that an interrupted start leaves no partial password.
            new = self.path / "password.new"
            new.touch(0o600)
            new.write_text(secrets.token_urlsafe(32))
            self._programs.own(new)
            new.rename(path)
        return path.read_text()

    def initialize(self) -> None:
        """Creates an empty server that requires the password, unless there is one.

        Raises:
            ProgramFailed: it cannot be created.
        """
        if self._data.exists():
            return
        for path in self.path.glob("data.new.*"):
            shutil.rmtree(path, ignore_errors=True)
        # Created under another name and renamed, so that an interrupted start leaves no partial server.
        new = self.path / f"data.new.{secrets.token_hex(4)}"
        who = ("--auth=scram-sha-256", f"--pwfile={self.path / 'password'}", f"--username={USER}")
        text = ("--encoding=UTF8", "--no-locale", "--set=timezone=UTC", "--set=log_timezone=UTC")
        self._programs.run("initdb", *who, *text, f"--pgdata={new}", work_directory=self.path)
        new.rename(self._data)

    def running_port(self) -> int | None:
        """The port of the server that runs on this directory; None if none does."""
        lines = _read(self._process_file).splitlines()
        if len(lines) < 4 or not lines[0].isdigit():
            return None
        try:
            process = psutil.Process(int(lines[0]))
            # After a reboot the id may belong to any process: only PostgreSQL on this directory counts.
            is_ours = str(self._data) in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return None
        return int(lines[3]) if is_ours else None

    def launch(self, port: int | None = None) -> int:
        """Starts the server, which does not run yet, waits until it is ready, and returns its port.

        Args:
            port: the port that it must have; without it, a free one.

        Raises:
            ProgramFailed: with what the server logged.
        """
        # A port may be taken after it was chosen, and the backends of a killed server take a moment to end.
        for _ in range(ATTEMPTS - 1):
            try:
                return self._launch_once(port)
            except ProgramFailed as error:
                if "in use" not in str(error):
                    raise
                time.sleep(1)
        return self._launch_once(port)

    def shut_down(self) -> None:
        """Stops the server: closes connections and writes data. If that takes too long, it stops at once.

        Nothing is lost by that: the next start recovers from the log, which is written before each answer.

        Raises:
            ProgramFailed: it does not stop.
        """
        try:
            self._stop("fast")
        except ProgramFailed:
            self._stop("immediate")

    def _stop(self, mode: str) -> None:
        arguments = ("-D", str(self._data), "-m", mode, "-t", str(STOP_WITHIN_S), "-w", "stop")
        self._programs.run("pg_ctl", *arguments, work_directory=self.path)

    def _launch_once(self, wanted_port: int | None) -> int:
        self._process_file.unlink(missing_ok=True)
        self._log.unlink(missing_ok=True)
        port = wanted_port or self._free_port()
        where = ("-D", str(self._data), "-l", str(self._log))
        how = ("-w", "-s", "-o", f"{OPTIONS} -p {port}")
        try:
            self._programs.run("pg_ctl", *where, *how, "start", work_directory=self.path)
        except ProgramFailed as error:
            raise ProgramFailed(_read(self._log) or str(error)) from error
        (self.path / "port").write_text(str(port))
        return port

    def _free_port(self) -> int:
        # The previous port, if it is free, so that clients that still know it find the server again.
        # Otherwise a port that the system does not give to clients: a client that tries to connect could get
        # it.
        remembered = _read(self.path / "port")
        earlier = [int(remembered)] if remembered.isdigit() else []
        for port in [*earlier, *random.sample(PORTS, 50), 0]:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((HOST, port))
                    return int(probe.getsockname()[1])
                except OSError:
                    continue
        raise ProgramFailed("no port is free")


def _read(path: Path) -> str:
    return path.read_text(errors="replace") if path.exists() else ""
