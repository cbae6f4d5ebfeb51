"""How each part is tried before a start."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path

import migrations
from api.checks import Check, Finding, tried
from api.server import bind
from api.settings import Settings
from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.catalogs.spark_catalog_properties import spark_catalog_properties
from service.adapters.catalogs.store_region import with_region
from service.adapters.clock import SystemClock
from service.adapters.filters.filter_cache import FilterCacheBounds, RedisFilterCache
from service.errors import CannotStart, FilterCacheDown
from service.model.health import PartState
from spark_session.catalog_watch import missing_driver
from spark_session.jars import check_java

ROOM_BYTES = 1024**3


def findings(settings: Settings) -> Iterator[Finding]:
    """What is found of each part that `serve` would start or reach. Nothing is started or changed."""
    return tried(
        [
            Check("java", lambda: str(check_java())),
            Check("spark", partial(_spark, settings)),
            Check("address", partial(_address, settings)),
            Check("data folder", partial(_data_folder, settings)),
            Check("metrics store", partial(_metrics_store, settings)),
            Check("filter cache", partial(_filter_cache, settings)),
            *(Check(f"catalog {name}", partial(_catalog, settings, name)) for name in settings.catalogs),
        ]
    )


def _spark(settings: Settings) -> str:
    for jar in settings.spark_jars:
        if not Path(jar).is_file():
            raise CannotStart(f"There is no jar {jar}: mend spark_jars.")
    return f"Spark {version('pyspark')} on {settings.spark_master}, time zone {settings.session_time_zone}"


def _address(settings: Settings) -> str:
    bind(settings.host, settings.port).close()
    return f"{settings.host}, port {settings.port or 'any'}"


def _data_folder(settings: Settings) -> str:
    path = settings.data_dir.expanduser().absolute()
    there = next(each for each in (path, *path.parents) if each.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            free = shutil.disk_usage(there).free
    except OSError as error:
        raise CannotStart(f"{there} cannot be written ({error.strerror}): set data_dir.") from error
    if free < ROOM_BYTES:
        raise CannotStart(f"{there} has only {free // 1024**2} MiB free: make room, or set data_dir.")
    return f"{path}, {free // 1024**3} GiB free"


def _metrics_store(settings: Settings) -> str:
    if settings.metrics_store_url is None:
        return "embedded, starts with the gateway"
    if not migrations.is_current(settings.metrics_store_url.get_secret_value()):
        raise CannotStart("Its schema is not this version's: run `sluice migrate`.")
    return "answers, and has this version's schema"


def _filter_cache(settings: Settings) -> str:
    if settings.filter_cache_url is None:
        return "embedded, starts with the gateway"
    cache = RedisFilterCache(settings.filter_cache_url.get_secret_value(), SystemClock(), FilterCacheBounds())
    try:
        health = cache.health()
    finally:
        cache.close()
    if health.state is not PartState.UP:
        raise FilterCacheDown(health.detail)
    return "answers"


def _catalog(settings: Settings, name: str) -> str:
    properties = with_region(settings.catalogs[name])
    spark = spark_catalog_properties(name, properties)
    packages = (*settings.spark_packages, *settings.spark_extra_packages)
    driver = missing_driver(spark.get(f"spark.sql.catalog.{name}.uri", ""), packages)
    if driver is not None and not settings.spark_jars:
        raise CannotStart(f"Spark has no JDBC driver for it: add {driver} to spark_extra_packages.")
    catalogs = PyIcebergCatalogs({name: properties}, SystemClock())
    try:
        catalogs.ask(name, lambda catalog: catalog.list_namespaces())
    finally:
        catalogs.close()
    return f"type {properties['type']}, answers"
