"""An engine for tests that need no gateway around it."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from spark_session.engine.engine import SparkEngine
from spark_session.settings.settings import SparkSettings
from tests.engine_jars import engine_jars


def jars() -> tuple[str, ...]:
    """Returns the paths of what an engine needs for Iceberg."""
    return engine_jars()


def hadoop_catalog(folder: Path) -> Mapping[str, str]:
    """Returns properties of a catalog `lake` that needs no server."""
    return {
        "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.lake.type": "hadoop",
        "spark.sql.catalog.lake.warehouse": f"file://{folder}/warehouse",
        "spark.sql.catalog.lake.cache-enabled": "false",
    }


@contextmanager
def started(settings: SparkSettings) -> Iterator[SparkEngine]:
    """Runs an engine, and stops it at the end in any case."""
    engine = SparkEngine(settings)
    engine.start()
    try:
        yield engine
    finally:
        engine.close()
        del engine
        gc.collect()


@contextmanager
def plain_engine(folder: Path) -> Iterator[SparkEngine]:
    """Runs an engine with one catalog and with default settings, except that it takes late filters."""
    settings = SparkSettings("local[2]", jars(), folder, hadoop_catalog(folder), ("lake",), "lake", "1g")
    with started(replace(settings, takes_late_filters=True)) as engine:
        yield engine


class SharedEngine:
    """An engine that files of tests take over from each other.

    PySpark allows one at a time in a process, so it has to be closed before any other file runs.
    """

    def __init__(self) -> None:
        self._engine: SparkEngine | None = None
        self._running = ExitStack()

    def get(self, starting: AbstractContextManager[SparkEngine]) -> SparkEngine:
        """Returns the engine; enters `starting` if there is none."""
        if self._engine is None:
            self._engine = self._running.enter_context(starting)
        return self._engine

    def close(self) -> None:
        self._engine = None
        self._running.close()
