"""A gateway with every cache on, beside one with the default settings: what this gains over stock Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from bench.client import Client
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake, share_jars

EVERY_CACHE: Mapping[str, str] = {
    "SLUICE_HASH_RELATIONS_MAX_BYTES": str(256 << 20),
    "SLUICE_LOCAL_RELATION_MAX_ROWS": "150000",
    "SLUICE_LOCAL_RELATION_MAX_BYTES": str(64 << 20),
    "SLUICE_LOCAL_RELATIONS_MAX_BYTES": str(256 << 20),
    "SLUICE_FILE_CACHE_MAX_BYTES": str(256 << 20),
    "SLUICE_MANIFEST_ENTRIES_MAX_BYTES": str(256 << 20),
    "SLUICE_PLANNED_ONCE_MAX_BYTES": str(64 << 20),
    "SLUICE_KEPT_PLANS_MAX_BYTES": str(64 << 20),
}


@contextmanager
def stock_and_cached(
    lake: Lake, both: Mapping[str, str] | None = None, cached_also: Mapping[str, str] | None = None
) -> Iterator[tuple[Client, Client]]:
    """Starts two gateways on the same tables, and yields a client of each: first that of the stock Spark.

    `both` are settings of both, `cached_also` those of the other one alone.
    """
    other = lake.data_dir / "every-cache"
    share_jars(lake.data_dir, other)
    settings = lake.environment() | dict(both or {})
    changed = {"SLUICE_DATA_DIR": str(other), **EVERY_CACHE, **(cached_also or {})}
    with gateway_process(settings) as stock, gateway_process(settings | changed) as cached:
        yield Client(stock.url), Client(cached.url)
