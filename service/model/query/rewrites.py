"""The rewrites of a query's text besides its filters."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RewriteKind(StrEnum):
    """The kinds of rewrites; each is part of the HTTP contract, and can be switched off in the settings."""

    READ_OPTIONS = "READ_OPTIONS"
    LOCAL_RELATION = "LOCAL_RELATION"
    ONE_READING = "ONE_READING"
    JOIN_ELIMINATED = "JOIN_ELIMINATED"
    NATIVE_PRUNING_OFF = "NATIVE_PRUNING_OFF"
    VIEW_EXPANDED = "VIEW_EXPANDED"
    REFRESH = "REFRESH"


@dataclass(frozen=True, slots=True)
class RewriteRecord:
    """One rewrite as it is recorded and explained; `table` is empty when the rewrite affects the whole query.

    `table_reference` is the ordinal of the table reference that was rewritten, as in a filter's probe.
    `filter_id` is the filter that replaces an eliminated join, or whose keys were read together with the rows
    in memory. Both are missing where they do not apply, and in records of earlier versions.
    """

    kind: RewriteKind
    table: str = ""
    detail: str = ""
    table_reference: int | None = None
    filter_id: str = ""
