"""The progress bar of a demo data load."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from api.wiring import Progress


@contextmanager
def progress_bar(console: Console) -> Iterator[Callable[[Progress], None]]:
    """Draws a bar while the block runs; where there is no terminal, a line at the end."""
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

        def tell(progress: Progress) -> None:
            now = f"{progress.table} {progress.step.lower()}"
            bar.update(
                task,
                total=progress.tables_total,
                completed=progress.tables_done,
                rows=progress.rows_done,
                now=now,
            )

        yield tell
        bar.update(task, now="")
