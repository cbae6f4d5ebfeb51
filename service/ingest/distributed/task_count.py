"""Divides a large input among tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

_TASKS_A_SLOT = 2
# A task's last file is smaller, which matters little after this many full ones.
_FILES_A_TASK = 16
T = TypeVar("T")


def task_count(byte_count: int, slots: int, target_bytes: int, least_bytes: int) -> int:
    """Returns the number of tasks: enough to keep all slots busy, but not more than files should be.

    Every task writes files of its own, so many tasks leave small files. If there are several tasks, each gets
    at least `least_bytes`, and none so much that it would write a thousand files.

    >>> [task_count(gib * 2**30, 2, 2**29, 2**27) for gib in (0, 1, 2, 100)]
    [1, 2, 4, 12]
    >>> task_count(2**30, 64, 2**29, 2**27)
    8
    """
    by_target = -(-byte_count // target_bytes)
    most = max(slots * _TASKS_A_SLOT, byte_count // (target_bytes * _FILES_A_TASK))
    return max(min(max(by_target, slots), most, byte_count // least_bytes), 1)


def in_groups(items: Sequence[T], weights: Sequence[int], count: int) -> list[tuple[T, ...]]:
    """Returns the items in their order, in at most `count` groups of about equal weight; none is empty.

    >>> in_groups("abcdef", [1, 1, 1, 1, 1, 5], 2)
    [('a', 'b', 'c', 'd', 'e'), ('f',)]
    """
    groups: list[list[T]] = [[] for _ in range(count)]
    total = max(sum(weights), 1)
    before = 0
    for item, weight in zip(items, weights, strict=True):
        # The middle of an item decides its group.
        groups[min((2 * before + weight) * count // (2 * total), count - 1)].append(item)
        before += weight
    return [tuple(group) for group in groups if group]
