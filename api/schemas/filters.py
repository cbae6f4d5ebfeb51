"""What GET /filters and DELETE /filters say."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from api.schemas.wire import StrictModel, WireModel
from service.model.filtering import CachedFilter


class FiltersQuery(StrictModel):
    """The query string of GET /filters."""

    limit: Annotated[int, Field(strict=False, ge=1, le=1000, description="so many entries at most")] = 100


class CachedFilterAnswer(WireModel):
    """One entry. `bytes` is the size of the keys as they are stored."""

    fingerprint: Annotated[
        str, Field(description="the entry's address, as DELETE /filters/{fingerprint} takes it")
    ]
    tables: list[str]
    columns: list[str]
    predicate: Annotated[str, Field(description="what the keys were filtered by; a long one is cut")]
    snapshot_ids: list[int | None]
    values: int
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
        bytes=entry.byte_count,
        exceeds_threshold=entry.exceeds_threshold,
        created_at=entry.created_at,
        expires_at=entry.expires_at,
    )
