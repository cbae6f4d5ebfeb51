"""A value as a key by identity, where comparing values would take as long as computing the result again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Identity(Generic[T]):
    """A key that is equal only for the same object; it holds the object so that its memory is not reused.

    >>> numbers = [1, 2]
    >>> Identity(numbers) == Identity(numbers), Identity(numbers) == Identity([1, 2])
    (True, False)
    """

    value: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
