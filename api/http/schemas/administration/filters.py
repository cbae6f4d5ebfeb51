"""The query string and the answers of GET /filters and DELETE /filters."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from api.http.schemas.wire import StrictModel, WireModel
from service.model.filters.key_set import CachedFilter, FilterForm


class FiltersQuery(StrictModel):
    """The query string of GET /filters."""

    limit: Annotated[int, Field(strict=False, ge=1, le=1000, description="maximum number of entries")] = 100


class CachedFilterAnswer(WireModel):
    """One cached filter. `bytes` is the size of the keys as they are stored.

    Values are shown as text. One over 64 characters is cut, and ends with `…`. Entries that an earlier
    version stored, and entries whose build side is very long, have no `min`, `max`, `sample` and `ranges`.
    """

    fingerprint: Annotated[
        str, Field(description="the entry's address, as DELETE /filters/{fingerprint} takes it")
    ]
    tables: list[str]
    columns: list[str]
    predicate: Annotated[str, Field(description="the condition that chose the keys; a long one is cut")]
    snapshot_ids: list[int | None]
    values: Annotated[int, Field(description="number of keys cached one by one, including NULL")]
    form: Annotated[
        FilterForm,
        Field(description="how the keys are cached: IN is a set of values, EMPTY an empty set"),
    ]
    has_null: Annotated[bool, Field(description="rows whose key is NULL match too")]
    min: Annotated[list[str | None], Field(description="the lowest value of each key column, as text")]
    max: Annotated[list[str | None], Field(description="the highest value of each key column, as text")]
    sample: Annotated[
        list[list[str | None]],
        Field(description="the first ten keys, a value for each key column as text; NULL is null"),
    ]
    range_count: int
    ranges: Annotated[list[tuple[str, str]], Field(description="the first ten ranges, both ends inclusive")]
    bytes: int
    exceeds_threshold: Annotated[bool, Field(description="there were too many keys to cache; it has none")]
    created_at: datetime
    expires_at: datetime


class FiltersAnswer(WireModel):
    """The newest entries first."""

    filters: list[CachedFilterAnswer]


class DeletedAnswer(WireModel):
    """The number of deleted entries."""

    deleted: int


def filter_answer(entry: CachedFilter) -> CachedFilterAnswer:
    """Returns the entry as it is on the wire."""
    return CachedFilterAnswer(
        fingerprint=entry.fingerprint,
        tables=[str(table) for table in entry.tables],
        columns=list(entry.columns),
        predicate=entry.predicate,
        snapshot_ids=list(entry.snapshot_ids),
        values=entry.value_count,
        form=entry.form,
        has_null=entry.has_null,
        min=list(entry.sample.lowest),
        max=list(entry.sample.highest),
        sample=[list(key) for key in entry.sample.keys],
        range_count=entry.range_count,
        ranges=list(entry.sample.ranges),
        bytes=entry.byte_count,
        exceeds_threshold=entry.exceeds_threshold,
        created_at=entry.created_at,
        expires_at=entry.expires_at,
    )
