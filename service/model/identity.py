"""A value as a key for what was made of it, where to compare it would take as long as to make it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Identity(Generic[T]):
    """Equal to itself alone; holds its value, so that no other one gets its place in memory.

    >>> numbers = [1, 2]
    >>> Identity(numbers) == Identity(numbers), Identity(numbers) == Identity([1, 2])
    (True, False)
    """

    value: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
