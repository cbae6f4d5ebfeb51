"""What values have to be so that there is a partition for them. It travels to executors, and is kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FolderBounds:
    """How many characters the folders of partitions have at most: each, and all of a partition together.

    What is no letter, digit or one of a few signs is three characters for each of its bytes in a name.
    """

    each: int | None
    together: int


@dataclass(frozen=True, slots=True)
class PartitionRule:
    """A partition field whose source may have values without a partition: `path` leads there by names.

    `is_required`: though a struct around it may be NULL, NULL is no value of the partition.
    """

    name: str
    path: tuple[str, ...]
    kind: str
    transform: str
    is_required: bool = False


@dataclass(frozen=True, slots=True)
class PartitionRules:
    """Without `folders` no value becomes the name of one."""

    fields: tuple[PartitionRule, ...] = ()
    folders: FolderBounds | None = None


NO_RULES = PartitionRules()
