"""Conditions that values must meet to have a partition.

The rules travel to executors and are stored.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderBounds:
    """The greatest lengths of partition folders' names, in characters.

    `each` bounds each name, `together` all names of a partition. A character that is not a letter or digit,
    or one of a few signs, takes three characters for each of its bytes.
    """

    each: int | None
    together: int


@dataclass(frozen=True, slots=True)
class PartitionRule:
    """A partition field whose source may hold values that have no partition.

    `path` holds the names that lead to the source. `is_required`: NULL is not a value of the partition,
    though a struct around the source may be NULL.
    """

    name: str
    path: tuple[str, ...]
    kind: str
    transform: str
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class PartitionRules:
    """The partition rules of one table; without `folders`, no value becomes the name of a folder."""

    fields: tuple[PartitionRule, ...] = ()
    folders: FolderBounds | None = None


NO_RULES = PartitionRules()
