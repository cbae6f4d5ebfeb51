"""What runs in the Python of executors; it imports next to nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from service.model.micro_batches import Message

T = TypeVar("T")
R = TypeVar("R")
V = TypeVar("V")
Place = tuple[int, int, int]
"""A part, the number of the item that a value comes from, and the value's own among those of that item."""


def of_partition(function: Callable[[Iterator[Message]], R], rows: Iterator[Any]) -> Iterator[R]:
    """What the function makes of a partition's messages; one without a value is an empty text."""
    yield function((bytes(value or b""), partition, offset) for value, partition, offset in rows)


def placed_values(
    apart: Callable[[T], Iterable[tuple[int, V]]], numbered: tuple[int, T]
) -> Iterator[tuple[Place, V]]:
    """What the function gives for an item, each value with its place.

    >>> list(placed_values(lambda item: [(0, item), (3, item)], (7, "a")))
    [((0, 7, 0), 'a'), ((3, 7, 1), 'a')]
    """
    index, item = numbered
    for sequence, (part, value) in enumerate(apart(item)):
        yield (part, index, sequence), value


def part_of(place: Place) -> int:
    """The part that a place is in."""
    return place[0]


def order_in_part(place: Place) -> tuple[int, int]:
    """What values of one part are sorted by."""
    return place[1:]


def of_part(together: Callable[[Iterator[V]], R], values: Iterator[tuple[Place, V]]) -> Iterator[R]:
    """What the function makes of a part's values, which come in their order."""
    yield together(value for _, value in values)
