"""A body of records whose progress is shown while it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from sluice_client.calls import Body
from sluice_client.cli.terminal.cells import cut
from sluice_client.cli.terminal.safe_text import safe_text
from sluice_client.explaining.sizes import size
from sluice_client.progress.steps import Step
from sluice_client.progress.terminal import TerminalLine

_LONGEST_NAME = 40
"""A line that is longer than the screen could not be written over."""


class CountedBody:
    """The same bytes, with a line that says how many of them are sent."""

    def __init__(self, body: Body, stream: TextIO, name: str) -> None:
        self._body = body
        self._line = TerminalLine(stream)
        self._name = cut(safe_text(name), _LONGEST_NAME)

    @property
    def content_type(self) -> str:
        """The media type."""
        return self._body.content_type

    @property
    def content_encoding(self) -> str | None:
        """How the bytes are compressed, or None."""
        return self._body.content_encoding

    @property
    def length(self) -> int | None:
        """The number of bytes, or None if that is not known before they are read."""
        return self._body.length

    def can_open(self) -> bool:
        """Whether the bytes can be sent again."""
        return self._body.can_open()

    def open(self) -> Iterator[bytes]:
        """Yields the bytes from their beginning."""
        sent, total = 0, self.length
        for piece in self._body.open():
            of = "" if total is None else f" of {size(total)}"
            self._line.show(Step(f"{self._name}: sending, {size(sent)}{of}", sent, total or 0))
            yield piece
            sent += len(piece)
        self._line.show(Step(f"{self._name}: sent, waiting for its commit"))

    def close(self) -> None:
        """Removes the line, and frees the body."""
        self._line.close()
        self._body.close()
