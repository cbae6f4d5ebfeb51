"""Chooses where progress is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, TextIO, TypeAlias

from sluice_client.progress.notebook import NotebookBar
from sluice_client.progress.rich_line import RichLine
from sluice_client.progress.steps import Progress, Silent
from sluice_client.progress.terminal import TerminalLine

MakeProgress: TypeAlias = Callable[[], Progress]


def choose_progress(
    wanted: bool | MakeProgress | None,
    stream: TextIO | None = None,
    modules: Mapping[str, Any] = sys.modules,
) -> MakeProgress:
    """Returns what makes the display of one query.

    Args:
        wanted: True; False; what makes a display; or None: only in a notebook, or if standard error is a
            terminal.
        stream: the terminal, instead of standard error.
        modules: those that this process has imported, by name.
    """
    terminal = sys.stderr if stream is None else stream
    if callable(wanted):
        return wanted
    if wanted is False:
        return Silent
    if _is_notebook(modules):
        return NotebookBar
    if wanted is None and not terminal.isatty():
        return Silent
    return (lambda: RichLine(terminal)) if find_spec("rich") else (lambda: TerminalLine(terminal))


def _is_notebook(modules: Mapping[str, Any]) -> bool:
    # A kernel has imported IPython already; a script need not.
    ipython = modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
