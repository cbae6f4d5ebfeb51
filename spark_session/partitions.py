"""What runs in the Python of executors; it imports next to nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

R = TypeVar("R")


def of_partition(
    function: Callable[[Iterator[bytes]], R], rows: Iterator[Any]
) -> Iterator[tuple[R, set[str]]]:
    """What the function makes of a partition's first column, which is bytes; NULL is an empty text.

    With it goes what the second column had, if there is one.
    """
    files: set[str] = set()

    def values() -> Iterator[bytes]:
        for row in rows:
            files.update(row[1:])
            yield bytes(row[0] or b"")

    yield function(values()), files
