"""Where a command's output goes: standard output, or a file that appears only when it is whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Literal

from sluice_client.cli.exits import WrongUsage
from sluice_client.cli.terminal.safe_text import safe_lines
from sluice_client.cli.terminal.screen import Style, is_terminal, style_of, width_of


class Output:
    """Takes text and bytes."""

    def __init__(self, stream: BinaryIO, *, is_screen: bool) -> None:
        self.stream = stream
        self.is_screen = is_screen
        """Whether a terminal shows it."""

    @property
    def style(self) -> Style:
        """The colours of the screen; none for a file."""
        return style_of(sys.stdout) if self.is_screen else Style(has_colors=False)

    @property
    def width(self) -> int | None:
        """The columns of the screen. None: lines may have any length."""
        return width_of(sys.stdout) if self.is_screen else None

    def text(self, pieces: Iterable[str]) -> None:
        """Writes text that has no character that a terminal obeys, but for the command's own colours."""
        encoding = (sys.stdout.encoding or "utf-8") if self.is_screen else "utf-8"
        for piece in pieces:
            self.stream.write(piece.encode(encoding, errors="replace"))

    def raw(self, data: bytes) -> None:
        """Writes lines of the gateway: as they are to a file, and without effect on a terminal."""
        if self.is_screen:
            text = data.decode("utf-8", errors="replace").replace("\r\n", "\n")
            self.text([safe_lines(text)])
        else:
            self.stream.write(data)


@contextmanager
def output_to(path: Path | None) -> Iterator[Output]:
    """Yields the output. If the command fails, a file is as it was before, or is not there.

    Raises:
        WrongUsage: the file cannot be written.
    """
    if path is None:
        if _is_missing(sys.stdout):
            # It was closed before the start: `>&-`.
            raise WrongUsage("there is no standard output: pass --output FILE")
        sys.stdout.flush()
        try:
            yield Output(sys.stdout.buffer, is_screen=is_terminal(sys.stdout))
        finally:
            sys.stdout.flush()
        return
    if path.exists() and not path.is_file():
        # A pipe or a device cannot be replaced.
        with _opened(path, "wb") as stream:
            yield Output(stream, is_screen=False)
        return
    target = path.resolve()
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with _opened(part, "xb") as stream:
            yield Output(stream, is_screen=False)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _opened(path: Path, mode: Literal["wb", "xb"]) -> BinaryIO:
    try:
        return path.open(mode)
    except OSError as error:
        raise WrongUsage(f"{path}: {error.strerror}") from None


def _is_missing(stream: object) -> bool:
    # Python has None for a stream that was closed before its start.
    return stream is None
