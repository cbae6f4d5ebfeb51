"""The progress of a demo data load: a bar on a terminal, else a line every few seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from api.bootstrap.wiring.preparations import Progress
from api.cli.demonstration.shown_steps import LINE_EVERY_S


@contextmanager
def progress_bar(console: Console) -> Iterator[Callable[[Progress], None]]:
    """Draws a bar while the block runs; without a terminal, prints a line every few seconds."""
    if not console.is_terminal:
        yield _Lines(console).report
        return
    columns = (
        TextColumn("TPC-DS"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("tables  {task.fields[rows]:>10,} rows "),
        TimeElapsedColumn(),
        TextColumn("{task.fields[now]}"),
    )
    with Bar(*columns, console=console) as bar:
        task = bar.add_task("load", total=None, rows=0, now="")

        def report(progress: Progress) -> None:
            now = f"{progress.table} {progress.step.lower()}"
            bar.update(
                task,
                total=progress.tables_total,
                completed=progress.tables_done,
                rows=progress.rows_done,
                now=now,
            )

        yield report
        bar.update(task, now="")


class _Lines:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._said_s = 0.0

    def report(self, progress: Progress) -> None:
        now_s = time.monotonic()
        if now_s - self._said_s < LINE_EVERY_S:
            return
        self._said_s = now_s
        percent = 100 * progress.tables_done // max(progress.tables_total, 1)
        self._console.print(
            f"TPC-DS: {progress.tables_done} of {progress.tables_total} tables ({percent} %), "
            f"{progress.rows_done:,} rows; {progress.table} {progress.step.lower()}",
            highlight=False,
        )
