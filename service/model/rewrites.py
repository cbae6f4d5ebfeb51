"""What was changed in a query's text besides its filters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RewriteKind(StrEnum):
    """Part of the HTTP contract, and of the settings: each can be switched off."""

    READ_OPTIONS = "READ_OPTIONS"
    LOCAL_RELATION = "LOCAL_RELATION"
    JOIN_DROPPED = "JOIN_DROPPED"
    NATIVE_PRUNING_OFF = "NATIVE_PRUNING_OFF"
    VIEW_OPENED = "VIEW_OPENED"


@dataclass(frozen=True, slots=True)
class RewriteRecord:
    """One rewrite as it is recorded and explained; `table` is empty when it is of the whole query."""

    kind: RewriteKind
    table: str = ""
    detail: str = ""
