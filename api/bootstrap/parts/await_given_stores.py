"""Waits for the stores that the settings name, before a start."""

from __future__ import annotations

import threading
from collections.abc import Callable

import migrations
from api.bootstrap.parts.awaited_stores import AwaitedStore, await_stores
from api.bootstrap.settings import Settings
from service.adapters.clock import SystemClock
from service.adapters.filters.filter_cache import FilterCacheBounds, RedisFilterCache
from service.errors.unavailable import MetricsStoreDown


def await_given_stores(settings: Settings, stopping: threading.Event) -> None:
    """Waits for the operator's metrics store, its schema, and the filter cache, within the settings' bound.

    Raises:
        ShuttingDown: the process has to stop.
    """
    stores: list[AwaitedStore] = []
    if settings.metrics_store_url is not None:
        url = settings.metrics_store_url.get_secret_value()
        stores.append(AwaitedStore("metricsStore", lambda: _lack_of_schema(url)))
    if settings.filter_cache_url is not None:
        stores.append(
            AwaitedStore("filterCache", _lack_of_cache(settings.filter_cache_url.get_secret_value()))
        )
    await_stores(stores, settings.stores_max_wait_s, SystemClock(), stopping.wait)


def await_metrics_store(settings: Settings) -> None:
    """Waits until the operator's metrics store answers, whatever its schema, within the settings' bound."""
    if settings.metrics_store_url is None:
        return
    url = settings.metrics_store_url.get_secret_value()
    store = AwaitedStore("metricsStore", lambda: _lack_of_answer(url))
    await_stores((store,), settings.stores_max_wait_s, SystemClock(), threading.Event().wait)


def _lack_of_schema(url: str) -> str | None:
    try:
        is_usable = migrations.revisions(url).is_usable
    except MetricsStoreDown as down:
        return down.detail
    return None if is_usable else "Its schema is of another version: run `sluice migrate`."


def _lack_of_answer(url: str) -> str | None:
    try:
        migrations.is_current(url)
    except MetricsStoreDown as down:
        return down.detail
    return None


def _lack_of_cache(url: str) -> Callable[[], str | None]:
    def lack() -> str | None:
        cache = RedisFilterCache(url, SystemClock(), FilterCacheBounds())
        try:
            return cache.health().detail or None
        finally:
            cache.close()

    return lack
