"""What runs in the Python of executors; it imports next to nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

R = TypeVar("R")


def of_partition(function: Callable[[Iterator[bytes]], R], rows: Iterator[Any]) -> Iterator[R]:
    """What the function makes of a partition's only column, which is bytes; NULL is an empty text."""
    yield function(bytes(row[0] or b"") for row in rows)
