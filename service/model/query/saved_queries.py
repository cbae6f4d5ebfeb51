"""Texts of queries that callers save, and may share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class SavedQueryScope(StrEnum):
    """Which saved queries a list has: the caller's own, those that others share, or both."""

    ALL = "ALL"
    OWN = "OWN"
    OTHERS = "OTHERS"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedText:
    """The part of a saved query that its owner may change: all but its id and its owner.

    `catalog` and `schema` are for names in the text without them. `is_shared`: all callers may read it.
    """

    name: str
    sql: str
    catalog: str | None = None
    schema: str | None = None
    is_shared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedQuery:
    """A saved query. Each change counts its `version` up by one, from 1."""

    saved_query_id: UUID
    owner: str
    text: SavedText
    version: int
    created_at: datetime
    changed_at: datetime

    @property
    def position(self) -> SavedQueryPosition:
        """Its place in lists."""
        return SavedQueryPosition(self.changed_at, self.saved_query_id)


@dataclass(frozen=True, slots=True, order=True)
class SavedQueryPosition:
    """A saved query's place in time; no two have the same place."""

    changed_at: datetime
    saved_query_id: UUID


@dataclass(frozen=True, slots=True)
class SavedQueryListing:
    """A selection of the queries that a caller may read: at most `limit` of `scope`, the last changed first.

    With `name`, only those whose name contains it, in upper or lower case. With `before`, only those behind
    that place.
    """

    caller: str
    limit: int
    scope: SavedQueryScope = SavedQueryScope.ALL
    name: str = ""
    before: SavedQueryPosition | None = None
