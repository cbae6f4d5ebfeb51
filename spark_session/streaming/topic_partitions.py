"""Code that runs in the Python of executors; it imports next to nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from service.model.ingest.micro_batches import Message

T = TypeVar("T")
R = TypeVar("R")
V = TypeVar("V")
Place = tuple[int, ...]
"""A part, numbers for the value's origin, and the value's own number within that origin."""


def of_partition(function: Callable[[Iterator[Message]], R], rows: Iterator[Any]) -> Iterator[R]:
    """Applies the function to a partition's messages; a message without a value is an empty text."""
    yield function(_messages(rows))


def placed_messages(
    apart: Callable[[Iterator[Message]], Iterable[tuple[int, V]]], rows: Iterator[Any]
) -> Iterator[tuple[Place, V]]:
    """Yields the function's values for a partition's messages, each with the first message's place.

    >>> rows = iter([(b"a", 5, 70), (b"b", 5, 71)])
    >>> list(placed_messages(lambda messages: [(2, len(list(messages)))], rows))
    [((2, 5, 70, 0), 2)]
    """
    messages = _messages(rows)
    first = next(messages, None)
    if first is None:
        return
    _, partition, offset = first
    for sequence, (part, value) in enumerate(apart(chain((first,), messages))):
        yield (part, partition, offset, sequence), value


def _messages(rows: Iterator[Any]) -> Iterator[Message]:
    return ((bytes(value or b""), partition, offset) for value, partition, offset in rows)


def placed_values(
    apart: Callable[[T], Iterable[tuple[int, V]]], numbered: tuple[int, T]
) -> Iterator[tuple[Place, V]]:
    """Yields the function's values for an item, each with its place.

    >>> list(placed_values(lambda item: [(0, item), (3, item)], (7, "a")))
    [((0, 7, 0), 'a'), ((3, 7, 1), 'a')]
    """
    index, item = numbered
    for sequence, (part, value) in enumerate(apart(item)):
        yield (part, index, sequence), value


def part_of(place: Place) -> int:
    """Returns the part of a place."""
    return place[0]


def order_in_part(place: Place) -> Place:
    """Returns the sort key for the values of one part."""
    return place[1:]


def of_part(together: Callable[[Iterator[V]], R], values: Iterator[tuple[Place, V]]) -> Iterator[R]:
    """Applies the function to a part's values, which come in order."""
    yield together(value for _, value in values)
