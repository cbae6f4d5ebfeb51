"""What GET /filters and DELETE /filters say."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from api.http.schemas.wire import StrictModel, WireModel
from service.model.filters.filtering import CachedFilter, FilterForm


class FiltersQuery(StrictModel):
    """The query string of GET /filters."""

    limit: Annotated[int, Field(strict=False, ge=1, le=1000, description="so many entries at most")] = 100


class CachedFilterAnswer(WireModel):
    """One entry. `bytes` is the size of the keys as they are stored.

    Each text of a value is cut at 64 characters, and ends with `…` then. Entries that a former version has
    stored, and those whose build side is very long, have no `min`, `max`, `sample` and `ranges`.
    """

    fingerprint: Annotated[
        str, Field(description="the entry's address, as DELETE /filters/{fingerprint} takes it")
    ]
    tables: list[str]
    columns: list[str]
    predicate: Annotated[str, Field(description="what the keys were filtered by; a long one is cut")]
    snapshot_ids: list[int | None]
    values: Annotated[int, Field(description="how many keys are cached one by one, NULL among them")]
    form: Annotated[
        FilterForm,
        Field(description="as what the keys are cached: IN is a set of values, EMPTY a set without any"),
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
    exceeds_threshold: Annotated[bool, Field(description="there were too many keys to keep; none is here")]
    created_at: datetime
    expires_at: datetime


class FiltersAnswer(WireModel):
    """The newest entries first."""

    filters: list[CachedFilterAnswer]


class DeletedAnswer(WireModel):
    """How many entries there were."""

    deleted: int


def filter_answer(entry: CachedFilter) -> CachedFilterAnswer:
    """The entry in the wire's words."""
    return CachedFilterAnswer(
        fingerprint=entry.fingerprint,
        tables=[str(each) for each in entry.tables],
        columns=list(entry.columns),
        predicate=entry.predicate,
        snapshot_ids=list(entry.snapshot_ids),
        values=entry.value_count,
        form=entry.form,
        has_null=entry.has_null,
        min=list(entry.sample.lowest),
        max=list(entry.sample.highest),
        sample=[list(each) for each in entry.sample.keys],
        range_count=entry.range_count,
        ranges=list(entry.sample.ranges),
        bytes=entry.byte_count,
        exceeds_threshold=entry.exceeds_threshold,
        created_at=entry.created_at,
        expires_at=entry.expires_at,
    )
