"""What was changed in a query's text besides its filters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RewriteKind(StrEnum):
    """Part of the HTTP contract, and of the settings: each can be switched off."""

    READ_OPTIONS = "READ_OPTIONS"
    LOCAL_RELATION = "LOCAL_RELATION"
    ONE_READING = "ONE_READING"
    JOIN_DROPPED = "JOIN_DROPPED"
    NATIVE_PRUNING_OFF = "NATIVE_PRUNING_OFF"
    VIEW_OPENED = "VIEW_OPENED"


@dataclass(frozen=True, slots=True)
class RewriteRecord:
    """One rewrite as it is recorded and explained; `table` is empty when it is of the whole query.

    `mention` is the one that was rewritten, as a filter's probe tells its own; `filter_id` is the filter that
    stands for a join that was dropped, or whose keys were read together with the rows in memory. Without them
    where there is none, and in records of former versions.
    """

    kind: RewriteKind
    table: str = ""
    detail: str = ""
    mention: int | None = None
    filter_id: str = ""
