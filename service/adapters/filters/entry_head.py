"""The readable part of a cached value: what it is, without its keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from service.model.filtering import CachedFilter, DynamicFilter, DynamicFilteringData
from service.model.tables import TableName

VERSION = 2
SHOWN_CHARACTERS = 2000


class Rubbish(Exception):
    """This is no value of this version, or not the one that was asked for."""


@dataclass(frozen=True, slots=True)
class EntryHead:
    """`checksum` is of the keys as they are stored."""

    shown: CachedFilter
    type_names: tuple[str, ...]
    is_filtering: bool
    checksum: str
    range_count: int = 0
    has_null: bool = False

    def to_json(self) -> bytes:
        """The head as it is stored."""
        shown = self.shown
        return json.dumps(
            {
                "version": VERSION,
                "fingerprint": shown.fingerprint,
                "types": self.type_names,
                "isFiltering": self.is_filtering,
                "exceedsThreshold": shown.exceeds_threshold,
                "tables": [[each.catalog, each.schema, each.table] for each in shown.tables],
                "columns": shown.columns,
                "predicate": shown.predicate,
                "snapshotIds": shown.snapshot_ids,
                "values": shown.value_count,
                "ranges": self.range_count,
                "hasNull": self.has_null,
                "bytes": shown.byte_count,
                "createdAt": shown.created_at.isoformat(),
                "expiresAt": shown.expires_at.isoformat(),
                "checksum": self.checksum,
            }
        ).encode()

    @classmethod
    def from_json(cls, text: bytes) -> EntryHead:
        """The head that was stored so.

        Raises:
            Rubbish: it is none of this version.
        """
        try:
            stored = json.loads(text)
            if stored["version"] != VERSION:
                raise Rubbish
            types = tuple(stored["types"])
            checksum, ranges, has_null = stored["checksum"], stored["ranges"], stored["hasNull"]
            return cls(_shown(stored), types, stored["isFiltering"], checksum, ranges, has_null)
        except (ValueError, KeyError, TypeError) as error:
            raise Rubbish from error


def head_of(
    wanted: DynamicFilter,
    data: DynamicFilteringData,
    byte_count: int,
    checksum: str,
    created_at: datetime,
    time_to_live: timedelta,
) -> EntryHead:
    """The head of these keys; a long predicate is cut."""
    shown = CachedFilter(
        fingerprint=wanted.fingerprint,
        tables=wanted.build.tables,
        columns=wanted.build.columns,
        predicate=wanted.build.predicate[:SHOWN_CHARACTERS],
        snapshot_ids=wanted.build.snapshot_ids,
        value_count=data.key_count,
        byte_count=byte_count,
        created_at=created_at,
        expires_at=created_at + time_to_live,
        exceeds_threshold=data.exceeds_threshold,
    )
    return EntryHead(shown, wanted.key_types, data.is_filtering, checksum, len(data.ranges), data.has_null)


def _shown(stored: Mapping[str, Any]) -> CachedFilter:
    return CachedFilter(
        fingerprint=stored["fingerprint"],
        tables=tuple(TableName(*each) for each in stored["tables"]),
        columns=tuple(stored["columns"]),
        predicate=stored["predicate"],
        snapshot_ids=tuple(stored["snapshotIds"]),
        value_count=stored["values"],
        byte_count=stored["bytes"],
        created_at=datetime.fromisoformat(stored["createdAt"]),
        expires_at=datetime.fromisoformat(stored["expiresAt"]),
        exceeds_threshold=stored["exceedsThreshold"],
    )
