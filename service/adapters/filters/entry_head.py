"""The readable head of a cached value: its description, without its keys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from service.adapters.filters.sampled_keys import sampled_keys, stored_form
from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.key_sample import NO_SAMPLE, KeySample
from service.model.filters.key_set import CachedFilter, DynamicFilteringData, FilterForm
from service.model.tables.tables import TableName

VERSION = 2
SHOWN_CHARACTERS = 2000


class Rubbish(Exception):
    """The value is not of this version, or not the one that was asked for."""


@dataclass(frozen=True, slots=True)
class EntryHead:
    """The head of a cached value. `checksum` is of the keys as they are stored."""

    shown: CachedFilter
    type_names: tuple[str, ...]
    is_filtering: bool
    checksum: str

    def without_sample(self) -> EntryHead:
        """Returns a shorter head of the same keys."""
        return replace(self, shown=replace(self.shown, sample=NO_SAMPLE))

    def to_json(self) -> bytes:
        """Returns the head as it is stored."""
        shown = self.shown
        return json.dumps(
            {
                "version": VERSION,
                "fingerprint": shown.fingerprint,
                "types": self.type_names,
                "isFiltering": self.is_filtering,
                "exceedsThreshold": shown.exceeds_threshold,
                "tables": [[table.catalog, table.schema, table.table] for table in shown.tables],
                "columns": shown.columns,
                "predicate": shown.predicate,
                "snapshotIds": shown.snapshot_ids,
                "values": shown.value_count,
                "ranges": shown.range_count,
                "hasNull": shown.has_null,
                "bytes": shown.byte_count,
                "createdAt": shown.created_at.isoformat(),
                "expiresAt": shown.expires_at.isoformat(),
                "checksum": self.checksum,
                # Former versions ignore these and do not write them, so the version number stays.
                "form": shown.form,
                "sample": asdict(shown.sample),
            }
        ).encode()

    @classmethod
    def from_json(cls, text: bytes) -> EntryHead:
        """Reads a stored head.

        Raises:
            Rubbish: it is not a head of this version.
        """
        try:
            stored = json.loads(text)
            if stored["version"] != VERSION:
                raise Rubbish
            types = tuple(stored["types"])
            return cls(_shown(stored), types, stored["isFiltering"], stored["checksum"])
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
    """Returns the head of these keys; a long predicate is cut."""
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
        form=stored_form(data),
        range_count=len(data.ranges),
        has_null=data.has_null,
        sample=sampled_keys(data),
    )
    return EntryHead(shown, wanted.key_types, data.is_filtering, checksum)


def _shown(stored: Mapping[str, Any]) -> CachedFilter:
    return CachedFilter(
        fingerprint=stored["fingerprint"],
        tables=tuple(TableName(*parts) for parts in stored["tables"]),
        columns=tuple(stored["columns"]),
        predicate=stored["predicate"],
        snapshot_ids=tuple(stored["snapshotIds"]),
        value_count=stored["values"],
        byte_count=stored["bytes"],
        created_at=datetime.fromisoformat(stored["createdAt"]),
        expires_at=datetime.fromisoformat(stored["expiresAt"]),
        exceeds_threshold=stored["exceedsThreshold"],
        form=_form(stored),
        range_count=stored["ranges"],
        has_null=stored["hasNull"],
        sample=_sample(stored.get("sample", {})),
    )


def _form(stored: Mapping[str, Any]) -> FilterForm:
    if "form" in stored:
        return FilterForm(stored["form"])
    if not stored["isFiltering"]:
        return FilterForm.NONE
    if stored["ranges"] or stored["exceedsThreshold"]:
        return FilterForm.RANGES
    return FilterForm.IN if stored["values"] else FilterForm.EMPTY


def _sample(stored: Mapping[str, Any]) -> KeySample:
    return KeySample(
        lowest=tuple(stored.get("lowest", ())),
        highest=tuple(stored.get("highest", ())),
        keys=tuple(map(tuple, stored.get("keys", ()))),
        ranges=tuple((low, high) for low, high in stored.get("ranges", ())),
    )
