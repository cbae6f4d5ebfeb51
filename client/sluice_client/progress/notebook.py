"""A bar below a notebook's cell."""

from __future__ import annotations

from html import escape
from importlib import import_module
from typing import Any

from sluice_client.progress.steps import Step


class NotebookBar:
    """Shows steps with IPython's display, and removes them at the end."""

    def __init__(self, displays: Any = None) -> None:
        self._displays = import_module("IPython.display") if displays is None else displays
        self._handle: Any = None

    def show(self, step: Step) -> None:
        """Updates the bar."""
        shown = self._displays.HTML(bar_html(step))
        if self._handle is None:
            self._handle = self._displays.display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def close(self) -> None:
        """Removes the bar."""
        if self._handle is not None:
            self._handle.update(self._displays.HTML(""))
            self._handle = None


def bar_html(step: Step) -> str:
    """Returns a step as HTML.

    >>> bar_html(Step("a < b", 1, 2))
    '<progress value="1" max="2"></progress> a &lt; b'
    """
    values = f' value="{step.done}" max="{step.total}"' if step.total > 0 else ""
    return f"<progress{values}></progress> {escape(step.text)}"
