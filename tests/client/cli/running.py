"""Runs the client's command line: in this process, as a process, and on a terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path

from typer.testing import CliRunner

import sluice_client
from sluice_client.cli.command_line import app

CLIENT = Path(sluice_client.__file__).parents[1]
COMMAND = (sys.executable, "-m", "sluice_client")
PATIENCE_S = 60
_ON_TERMINAL = ("/bin/sh", "-c", 'terminal=$1; shift; exec "$@" <>"$terminal" >&0 2>&0', "sh")
"""The first terminal that a new session opens is the one whose Ctrl-C it gets."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The output and the exit code of a command."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> bytes:
        return self.out.encode("utf-8", errors="surrogateescape")


@dataclass(frozen=True, slots=True)
class Cli:
    """The command line, with the address of a gateway in the environment."""

    url: str

    def run(
        self, *arguments: str, standard_input: str | bytes = "", variables: Mapping[str, str] | None = None
    ) -> Ended:
        """Runs a command in this process. Nothing of it is a terminal."""
        environment = {"SLUICE_URL": self.url, **(variables or {})}
        ended = CliRunner().invoke(app, list(arguments), input=standard_input, env=environment)
        # Typer's own text replaces \r\n.
        out = ended.stdout_bytes.decode("utf-8", errors="surrogateescape")
        return Ended(ended.exit_code, out, ended.stderr)

    def environment(self, variables: Mapping[str, str] | None = None) -> dict[str, str]:
        """Returns the environment of a process."""
        own = {"SLUICE_URL": self.url, "PYTHONPATH": str(CLIENT)}
        return {**os.environ, **own, **(variables or {})}

    def process(
        self,
        *arguments: str,
        standard_input: str = "",
        command: tuple[str, ...] = COMMAND,
        variables: Mapping[str, str] | None = None,
    ) -> Ended:
        """Runs a command as a process of its own."""
        ended = subprocess.run(
            [*command, *arguments],
            input=standard_input.encode(),
            capture_output=True,
            env=self.environment(variables),
            timeout=PATIENCE_S,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout.decode(errors="surrogateescape"), ended.stderr.decode())

    @contextmanager
    def started(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """Starts a process, and ends it."""
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(),
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()

    @contextmanager
    def terminal(
        self, *arguments: str, columns: int = 80, variables: Mapping[str, str] | None = None
    ) -> Iterator[Terminal]:
        """Starts a process whose streams are a terminal, and ends it."""
        terminal = Terminal.start([*COMMAND, *arguments], self.environment(variables), columns)
        try:
            yield terminal
        finally:
            terminal.end()


@dataclass(slots=True)
class Terminal:
    """A terminal that a test types on."""

    process: subprocess.Popen[bytes]
    descriptor: int
    output: str = ""
    position: int = 0

    @staticmethod
    def start(command: list[str], environment: Mapping[str, str], columns: int) -> Terminal:
        controlling, controlled = pty.openpty()
        ioctl(controlled, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        process = subprocess.Popen(
            [*_ON_TERMINAL, os.ttyname(controlled), *command],
            stdin=controlled,
            stdout=controlled,
            stderr=controlled,
            env={name: value for name, value in environment.items() if name not in ("COLUMNS", "LINES")},
            start_new_session=True,
        )
        os.close(controlled)
        return Terminal(process, controlling)

    def type(self, text: str) -> None:
        """Sends keys."""
        os.write(self.descriptor, text.encode())

    def read_until(self, expected: str) -> str:
        """Returns what came since the last call, as soon as it has a text."""
        deadline = time.monotonic() + PATIENCE_S
        while expected not in self.output[self.position :]:
            assert self._read(deadline), f"{expected!r} is not in {self.output[self.position :]!r}"
        found = self.output[self.position :]
        self.position = len(self.output)
        return found

    def read_all(self) -> str:
        """Returns all that comes until the process ends."""
        deadline = time.monotonic() + PATIENCE_S
        while self._read(deadline):
            pass
        return self.output

    def wait(self) -> int:
        """Returns the exit code."""
        self.read_all()
        return self.process.wait(PATIENCE_S)

    def end(self) -> None:
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.descriptor)

    def _read(self, deadline: float) -> bool:
        """Reads more; false if nothing came in time, or no more comes."""
        ready, _, _ = select.select([self.descriptor], [], [], max(deadline - time.monotonic(), 0))
        if not ready:
            return False
        try:
            piece = os.read(self.descriptor, 65_536)
        except OSError:
            return False
        self.output += piece.decode(errors="replace")
        self._answer(piece)
        return bool(piece)

    def _answer(self, piece: bytes) -> None:
        # prompt-toolkit asks where the cursor is, as every terminal knows.
        if b"\x1b[6n" in piece:
            os.write(self.descriptor, b"\x1b[1;1R")
