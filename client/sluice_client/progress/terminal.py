"""One line of a terminal that is written over and over, and removed at the end."""

from __future__ import annotations

import contextlib
from typing import TextIO

from sluice_client.progress.steps import Step, bar


class TerminalLine:
    """Shows steps on a terminal, without any other library."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._width = 0

    def show(self, step: Step) -> None:
        """Writes over the line."""
        line = bar(step)
        self._write(f"\r{line:<{self._width}}")
        self._width = len(line)

    def close(self) -> None:
        """Removes the line."""
        if self._width:
            self._write(f"\r{' ' * self._width}\r")
            self._width = 0

    def _write(self, text: str) -> None:
        # A closed or full terminal must not fail a query.
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()
