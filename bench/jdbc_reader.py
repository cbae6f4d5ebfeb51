"""A Java program that reads results by JDBC, in a process of its own: `JdbcReader.java`."""

from __future__ import annotations

import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from spark_session.jars.jars import check_java

PROGRAM = Path(__file__).with_name("JdbcReader.java")
OPTIONS = (
    # The driver of Flight needs it.
    "--add-opens=java.base/java.nio=org.apache.arrow.memory.core,ALL-UNNAMED",
    "-Dfile.encoding=UTF-8",
    "-Duser.timezone=UTC",
    "-Xmx1g",
)
_LAST_LINES = 20
_STOP_WITHIN_S = 30.0
USER, PASSWORD = "bench", "bench"
"""The name and the password for servers that let everyone in."""


@dataclass(frozen=True, slots=True)
class JdbcRead:
    """How long it took, how many rows there were, and a sum over their values in any order."""

    took_ms: float
    row_count: int
    checksum: int


class JdbcReader:
    """The running program. One thread at a time may use it.

    Each method raises RuntimeError with the driver's words if the driver fails, or the program has ended.
    """

    def __init__(self, process: subprocess.Popen[str], errors: deque[str]) -> None:
        self._process = process
        self._errors = errors
        self._connections = 0

    def open(self, url: str) -> int:
        """Opens a connection, and returns its number."""
        self._ask("open", url, USER, PASSWORD)
        self._connections += 1
        return self._connections - 1

    def run(self, connection: int, statement: str) -> None:
        """Runs a statement."""
        self._ask("run", str(connection), statement)

    def read(self, connection: int, fetch_rows: int, query: str) -> JdbcRead:
        """Reads all values of a result, with so many rows a fetch, from `executeQuery` to the last row."""
        return self._ask("read", str(connection), str(fetch_rows), query)

    def once(self, url: str, query: str) -> JdbcRead:
        """Opens a connection, reads a result, and closes the connection."""
        return self._ask("once", url, USER, PASSWORD, query)

    def _ask(self, *fields: str) -> JdbcRead:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\t".join(fields) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            # Drivers may log there.
            if line.startswith("= FAILED"):
                raise RuntimeError(f"{fields[-1]}: {line[9:].strip()}")
            if line.startswith("= "):
                took_ms, rows, checksum = line[2:].split()
                return JdbcRead(float(took_ms), int(rows), int(checksum))
        raise RuntimeError("\n".join(["The Java program has ended.", *self._errors]))


@contextmanager
def jdbc_reader(driver: Sequence[Path]) -> Iterator[JdbcReader]:
    """Starts the program with the jars of a driver, and stops it at the end."""
    command = [str(check_java()), *OPTIONS, "-cp", ":".join(map(str, driver)), str(PROGRAM)]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    errors: deque[str] = deque(maxlen=_LAST_LINES)

    def drain() -> None:
        assert process.stderr is not None
        errors.extend(line.rstrip() for line in process.stderr)

    threading.Thread(target=drain, daemon=True).start()
    try:
        yield JdbcReader(process, errors)
    finally:
        process.terminate()
        process.wait(_STOP_WITHIN_S)
