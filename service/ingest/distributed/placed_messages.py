"""Messages as the lines of a text, and where each of them stood."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

from service.model.ingest.micro_batches import Message


class PlacedMessages:
    """Messages that are read once; only numbers are kept of those that were.

    >>> placed = PlacedMessages([(b"a", 0, 7), (b"b", 0, 9)])
    >>> list(placed.values()), placed.place_of_line(2)
    ([b'a', b'b'], 'partition 0, offset 9')
    """

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = messages
        self._partitions = array("i")
        self._offsets = array("q")

    def values(self) -> Iterator[bytes]:
        """What they say, in their order."""
        for value, partition, offset in self._messages:
            self._partitions.append(partition)
            self._offsets.append(offset)
            yield value

    def place_of_line(self, line: int) -> str:
        """Where the message stood that was this line, from 1 on, of the values that were taken."""
        return f"partition {self._partitions[line - 1]}, offset {self._offsets[line - 1]}"
