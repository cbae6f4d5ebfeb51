"""Chooses where progress is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import TextIO

from sluice_client.progress.notebook import NotebookBar
from sluice_client.progress.rich_line import RichLine
from sluice_client.progress.steps import Progress, Silent
from sluice_client.progress.terminal import TerminalLine


def choose_progress(wanted: bool | None, stream: TextIO | None = None) -> Callable[[], Progress]:
    """Returns what makes the display of one query.

    Args:
        wanted: True, False, or None: only in a notebook, or if standard error is a terminal.
        stream: the terminal, instead of standard error.
    """
    terminal = sys.stderr if stream is None else stream
    if wanted is False:
        return Silent
    if _is_notebook():
        return NotebookBar
    if wanted is None and not terminal.isatty():
        return Silent
    return (lambda: RichLine(terminal)) if find_spec("rich") else (lambda: TerminalLine(terminal))


def _is_notebook() -> bool:
    # A kernel has imported IPython already; a script need not.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"
