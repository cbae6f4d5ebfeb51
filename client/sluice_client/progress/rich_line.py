"""The same with rich, if it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from sluice_client.progress.steps import Step

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress


class RichLine:
    """Shows steps as a bar of rich."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as RichProgress

        columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}", markup=False))
        self._bar: RichProgress = RichProgress(*columns, console=Console(file=stream), transient=True)
        self._task = self._bar.add_task("", total=None)
        self._bar.start()

    def show(self, step: Step) -> None:
        """Updates the bar."""
        total = step.total if step.total > 0 else None
        self._bar.update(self._task, description=step.text, completed=step.done, total=total)

    def close(self) -> None:
        """Removes the bar."""
        self._bar.stop()
