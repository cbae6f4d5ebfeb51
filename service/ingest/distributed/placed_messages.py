"""Reads messages as the lines of a text, and remembers the position of each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from service.model.ingest.micro_batches import Message


class PlacedMessages:
    """Messages that are read once; only their partitions and offsets are kept.

    >>> placed = PlacedMessages([(b"a", 0, 7), (b"b", 0, 9)])
    >>> list(placed.values()), placed.place_of_line(2)
    ([b'a', b'b'], 'partition 0, offset 9')
    """

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = messages
        self._partitions = array("i")
        self._offsets = array("q")

    def values(self) -> Iterator[bytes]:
        """Yields their contents, in their order."""
        for value, partition, offset in self._messages:
            self._partitions.append(partition)
            self._offsets.append(offset)
            yield value

    def place_of_line(self, line: int) -> str:
        """Returns the position of the message that was this line, from 1, of the values read so far."""
        return f"partition {self._partitions[line - 1]}, offset {self._offsets[line - 1]}"
