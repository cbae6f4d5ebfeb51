"""One PostgreSQL on disk: its data, its password, its port, its log."""

from __future__ import annotations

import random
import secrets
import shutil
import socket
import time
from pathlib import Path

import psutil

from service.adapters.embedded.postgres_programs import PostgresPrograms, ProgramFailed
from service.errors import CannotStart

HOST = "127.0.0.1"
USER = "postgres"
ATTEMPTS = 5
STOP_WITHIN_S = 5
PORTS = range(20_000, 30_000)
# TCP on the loopback only, since Spark's JVM speaks nothing else; no Unix socket, whose path may be too long.
OPTIONS = f"-c listen_addresses={HOST} -c unix_socket_directories= -c max_connections=200"


class PostgresDirectory:
    """What has to be done in the directory. Whoever calls holds the start lock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data = path / "data"
        self._log = path / "log"
        self._process_file = self._data / "postmaster.pid"
        self._programs = PostgresPrograms.find(self._data)

    def own(self) -> None:
        """Closes the directory to all but the user that PostgreSQL runs as.

        Raises:
            OSError: it cannot be owned.
        """
        self._programs.open_the_way_to(self.path)
        self._programs.own(self.path)
        self.path.chmod(0o700)

    def password(self) -> str:
        """The superuser's password; made at the first start, readable by its user alone.

        Raises:
            CannotStart: there are data, but no password to them.
        """
        path = self.path / "password"
        if not path.exists():
            if self._data.exists():
                raise CannotStart(f"{path} is missing; put it back, or remove {self.path} and all its data.")
            # Written beside and renamed, so that a start that is cut off here leaves no half password.
            new = self.path / "password.new"
            new.touch(0o600)
            new.write_text(secrets.token_urlsafe(32))
            self._programs.own(new)
            new.rename(path)
        return path.read_text()

    def initialize(self) -> None:
        """Makes an empty server that lets nobody in without the password, unless there is one.

        Raises:
            ProgramFailed: it cannot be made.
        """
        if self._data.exists():
            return
        for each in self.path.glob("data.new.*"):
            shutil.rmtree(each, ignore_errors=True)
        # Made under a name of its own and renamed, so that a start that is cut off leaves no half server.
        new = self.path / f"data.new.{secrets.token_hex(4)}"
        who = ("--auth=scram-sha-256", f"--pwfile={self.path / 'password'}", f"--username={USER}")
        text = ("--encoding=UTF8", "--no-locale", "--set=timezone=UTC", "--set=log_timezone=UTC")
        self._programs.run("initdb", *who, *text, f"--pgdata={new}", work_directory=self.path)
        new.rename(self._data)

    def running_port(self) -> int | None:
        """The port of the server that runs on this directory, if one does."""
        lines = _read(self._process_file).splitlines()
        if len(lines) < 4 or not lines[0].isdigit():
            return None
        try:
            process = psutil.Process(int(lines[0]))
            # After a reboot the number may belong to any process: only PostgreSQL on this directory counts.
            is_ours = str(self._data) in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return None
        return int(lines[3]) if is_ours else None

    def launch(self, port: int | None = None) -> int:
        """Starts the server, which does not run yet, and waits until it is ready; its port.

        Args:
            port: the one that it must have; without it, one that is free.

        Raises:
            ProgramFailed: with what the server logged.
        """
        # A port may be taken after we chose it, and the backends of a killed server take a moment to go.
        for _ in range(ATTEMPTS - 1):
            try:
                return self._launch_once(port)
            except ProgramFailed as error:
                if "in use" not in str(error):
                    raise
                time.sleep(1)
        return self._launch_once(port)

    def shut_down(self) -> None:
        """Stops the server: connections are closed, data are written. One that takes too long stops at once.

        Nothing is lost by that: the next start recovers from the log that was written before each answer.

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
        # The port of the last time, if it is free, so that those who still know it find the server again.
        # Otherwise one that the system does not give to clients: trying to connect, they could get it.
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
