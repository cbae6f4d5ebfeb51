"""Where the keys of filters are cached."""

from __future__ import annotations

from pydantic import BaseModel, Field, SecretStr, field_validator

from api.bootstrap.settings.store_urls import check_cache_url
from api.bootstrap.settings.value_types import GIB, KIB, MIB


class FilterCacheSettings(BaseModel):
    """Where the keys of filters are cached."""

    filter_cache_url: SecretStr | None = Field(
        None,
        description="Redis protocol: `redis://…`, `redis+sentinel://…`, `redis+cluster://…`, with TLS"
        " `rediss…`; unset: the embedded one",
    )
    filter_cache_max_bytes: int = Field(
        256 * MIB, ge=MIB, le=1024 * GIB, description="memory of the embedded filter cache"
    )
    filter_cache_ttl_s: int = Field(
        86_400, ge=1, le=31_536_000, description="how long a filter's keys are cached"
    )
    filter_cache_value_bytes: int = Field(
        33 * MIB,
        ge=KIB,
        le=512 * MIB,
        description="size of one filter's keys in the cache; larger ones stay out",
    )
    filter_cache_local_bytes: int = Field(
        64 * MIB, ge=0, le=64 * GIB, description="memory of each gateway for the keys that it used last"
    )

    filter_cache_answer_ms: int = Field(
        400, ge=10, le=60_000, description="how long a query waits for an answer of the filter cache"
    )

    @field_validator("filter_cache_url")
    @classmethod
    def _is_of_a_cache(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None:
            check_cache_url(url.get_secret_value())
        return url
