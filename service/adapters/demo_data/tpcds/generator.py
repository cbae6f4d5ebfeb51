"""Runs the TPC-DS generator table by table, so that the text of few tables is on the disk at once."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import deque
from collections.abc import Generator as Iteration
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from service.errors.gateway_error import CannotStart, PartDown

NO_SPACE = "no space left on device"


@dataclass(frozen=True, slots=True)
class Generator:
    """How to start the generator: a Java, the jars of `io.trino.tpcds`, and a folder for its text."""

    java: Path
    jars: tuple[Path, ...]
    folder: Path

    def texts(self, tables: Sequence[str], scale: float) -> Iteration[tuple[str, Sequence[Path]]]:
        """Yields each table's files, in order; they are removed when the next table is requested.

        While the caller reads one table, the next is generated. Close the iterator to stop early.

        Raises:
            CannotStart: Java does not start, or the disk is full.
            PartDown: the generator ended with an error.
        """
        waiting = deque(tables)
        running: deque[_Run] = deque()
        try:
            while waiting or running:
                while waiting and len(running) < 2:
                    running.append(_Run(self, waiting.popleft(), scale))
                with running[0] as run:
                    yield run.table, run.files()
                running.popleft()
        finally:
            for run in running:
                run.close()


class _Run:
    """One table that a child process generates, in a folder of its own."""

    def __init__(self, generator: Generator, table: str, scale: float) -> None:
        self.table = table
        self._folder = generator.folder / table
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self._process = _started(_command(generator, table, scale, self._folder))

    def __enter__(self) -> _Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def files(self) -> Sequence[Path]:
        """Waits for the end, and returns the files. Empty ones are left out."""
        said = self._process.communicate()[1]
        # An exception in a thread of the generator leaves its exit code at 0.
        if self._process.returncode != 0 or "Exception" in said:
            raise _failure(self.table, said, self._folder)
        return [path for path in sorted(self._folder.glob("*.dat")) if path.stat().st_size > 0]

    def close(self) -> None:
        """Ends the child, if it still runs, and removes its files. May be called again."""
        with self._process:
            self._process.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


def _command(generator: Generator, table: str, scale: float, folder: Path) -> list[str]:
    classpath = os.pathsep.join(map(str, generator.jars))
    return [
        *(str(generator.java), "-cp", classpath, "io.trino.tpcds.Driver"),
        *("--scale", f"{scale:.6f}", "--directory", str(folder)),
        *("--table", table, "--parallelism", "2", "--overwrite"),
    ]


def _started(command: Sequence[str]) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            # A pipe, not a file: on a full disk a file would stay empty, and the failure unseen.
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise CannotStart(f"{command[0]} does not start: install Java 17 or 21.") from error


def _failure(table: str, said: str, folder: Path) -> CannotStart | PartDown:
    if NO_SPACE in said.lower():
        return CannotStart(f"The disk is full: make room in {folder.parent}, or ask for a smaller scale.")
    cause = next((line for line in said.splitlines() if "Exception" in line or "Error" in line), "")
    return PartDown(f"The TPC-DS generator could not make {table}: {cause or 'it was stopped'}.")
