"""The answers of GET /caches and DELETE /caches/{name}."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from api.http.schemas.wire import WireModel
from service.caches import Caches
from service.model.operations.usage import CacheUse


class CacheAnswer(WireModel):
    """One cache of this gateway, or another store with a bound in bytes."""

    name: str
    entries: int
    bytes: Annotated[int, Field(description="as the gateway estimates them")]
    max_bytes: int
    hits: Annotated[int | None, Field(description="lookups that found an entry; null: not counted")]
    misses: Annotated[int | None, Field(description="lookups that found none; null: not counted")]
    evictions: Annotated[int | None, Field(description="entries that made room; null: not counted")]
    is_emptiable: Annotated[
        bool,
        Field(alias="canBeEmptied", description="whether DELETE /caches/{name} forgets its entries"),
    ]


class CachesAnswer(WireModel):
    """All caches of this gateway."""

    caches: list[CacheAnswer]


def caches_answer(caches: Caches) -> CachesAnswer:
    """Returns the caches as they are on the wire."""
    return CachesAnswer(caches=_answers(caches, caches.uses()))


def _answers(caches: Caches, uses: Mapping[str, CacheUse]) -> list[CacheAnswer]:
    return [
        CacheAnswer(
            name=name,
            entries=use.entries,
            bytes=use.byte_count,
            max_bytes=use.max_bytes,
            hits=use.hits,
            misses=use.misses,
            evictions=use.evictions,
            is_emptiable=caches.is_emptiable(name),
        )
        for name, use in uses.items()
    ]
