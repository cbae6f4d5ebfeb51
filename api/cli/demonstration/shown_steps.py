"""Shows the current step: a spinner on a terminal, else a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status

LINE_EVERY_S = 5.0


class Steps:
    """The current step, and how long it has run."""

    def __init__(self, console: Console, spinner: Status) -> None:
        self._console = console
        self._spinner = spinner
        self._step = ""
        self._began_s = self._said_s = 0.0

    def say(self, step: str) -> None:
        """Shows the step. Call it again while the step runs."""
        now_s = time.monotonic()
        is_new = step != self._step
        if is_new:
            self._step, self._began_s = step, now_s
        text = f"{step} … {now_s - self._began_s:.0f} s"
        self._spinner.update(text)
        if not self._console.is_terminal and (is_new or now_s - self._said_s >= LINE_EVERY_S):
            self._said_s = now_s
            self._console.print(text, highlight=False)


@contextmanager
def shown_steps(console: Console) -> Iterator[Steps]:
    """Shows the steps of the block."""
    with console.status("") as spinner:
        yield Steps(console, spinner)
