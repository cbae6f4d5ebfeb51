"""The streams of the command: which of them is a terminal, how wide it is, and whether it has colours."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True, slots=True)
class Style:
    """Marks for a terminal; nothing without colours."""

    has_colors: bool

    def bold(self, text: str) -> str:
        """Returns the text, brighter."""
        return f"\x1b[1m{text}\x1b[0m" if self.has_colors else text

    def dim(self, text: str) -> str:
        """Returns the text, weaker."""
        return f"\x1b[2m{text}\x1b[0m" if self.has_colors else text

    def red(self, text: str) -> str:
        """Returns the text in red."""
        return f"\x1b[31m{text}\x1b[0m" if self.has_colors else text


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person sees what is written to the stream. A closed or missing stream is not a terminal."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def style_of(stream: TextIO) -> Style:
    """Returns colours for a terminal, unless `NO_COLOR` is set or the terminal has none."""
    has_colors = (
        is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"
    )
    return Style(has_colors)


def width_of(stream: TextIO) -> int | None:
    """Returns the number of columns of a terminal; None: lines may have any length."""
    if not is_terminal(stream):
        return None
    return max(shutil.get_terminal_size((80, 24)).columns, 20)


def note(text: str) -> None:
    """Writes a line to standard error. A closed one is not an error."""
    try:
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - the output of a command
    except (OSError, ValueError):
        return
