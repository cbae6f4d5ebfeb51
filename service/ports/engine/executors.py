"""The engine's executors, and the bodies of requests as executors reach them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import BinaryIO, Protocol, TypeVar

from service.model.ingest.ingest_request import StreamedRecords
from service.model.ingest.writing import WritableTable

T = TypeVar("T")
R = TypeVar("R")
V = TypeVar("V")


class StagedBody(Protocol):
    """A body as it was sent, where executors find it: it can be pickled, and travels to them."""

    def open(self) -> BinaryIO:
        """Opens the whole body; the stream can seek.

        Raises, also while it is read:
            StorageDown, OSError: it is not there, or not given.
        """


class StagedBodies(Protocol):
    """Stages bodies where executors find them."""

    def staged(self, body: StreamedRecords, table: WritableTable) -> AbstractContextManager[StagedBody]:
        """Stages the body until the context ends; it may lie beside this table's files.

        Raises:
            StorageDown: there is no place for it.
        """


class Executors(Protocol):
    """Runs functions on many cores, or many machines, at once."""

    @property
    def slots(self) -> int:
        """Returns how many items are worked on at once when nothing else runs."""

    def map(self, function: Callable[[T], R], items: Sequence[T], tag: str) -> list[R]:
        """Returns the function's result for each item, in order. All three can be pickled.

        An item may be worked on more than once, also at the same time; one of its results is returned.

        Raises:
            ExecutorsFailed: an item failed again and again.
            EngineNotReady, EngineLost: there is no engine to run it on.
        """

    def regroup(
        self,
        apart: Callable[[T], Iterable[tuple[int, V]]],
        together: Callable[[Iterator[V]], R],
        items: Sequence[T],
        part_count: int,
        tag: str,
    ) -> list[R]:
        """Groups the values of `apart` by their part, below `part_count`; returns each part's `together`.

        `together` gets the values in the order of their items and, within an item, in the order that `apart`
        yielded them. It also runs for a part without values, but without items there are no parts. Both
        functions follow the rules of `map` for items. The values need not fit into memory.

        Raises:
            ExecutorsFailed: an item or a part failed again and again.
            EngineNotReady, EngineLost: there is no engine to run it on.
        """
