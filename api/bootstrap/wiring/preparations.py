"""Work of commands that start some parts and no gateway: demo data, jars, classes and migrations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import migrations
from api.bootstrap.parts.await_given_stores import await_metrics_store
from api.bootstrap.parts.components import Components
from api.bootstrap.parts.find_jars import demo_jars, fetched_jars
from api.bootstrap.settings import Settings
from service.adapters.demo_data.log_table import make_log_table
from service.adapters.demo_data.tpcds.loader import LoadReport as LoadReport
from service.adapters.demo_data.tpcds.loader import Progress as Progress
from service.adapters.demo_data.tpcds.loader import load_tpcds
from service.adapters.demo_data.tpcds.tpcds_schemas import STAR_TABLES as STAR_TABLES
from service.adapters.demo_data.tpcds.tpcds_schemas import table_schemas
from spark_session.jars.compiled_classes import compiled_classes, ship_classes
from spark_session.jars.jars import check_java


def load_demo_data(
    settings: Settings, schema: str, scale: float, tables: Sequence[str], report: Callable[[Progress], None]
) -> LoadReport:
    """Loads TPC-DS tables into the default catalog; without names, all of them.

    Raises:
        CannotStart: a part that the load needs cannot start, or the disk is full.
        CallerError: the tables or the scale are not valid, or the schema holds other data.
    """
    java = check_java()
    with ExitStack() as stack:
        components = Components(settings=settings, stack=stack)
        jars = demo_jars(components.jars_folder)
        catalog = components.catalogs.pyiceberg(settings.default_catalog)
        wanted = tables or tuple(table_schemas())
        return load_tpcds(catalog, schema, scale, wanted, jars, java, components.folder("tpcds"), report)


def make_demo_log(settings: Settings, name: str) -> None:
    """Creates the demo's log table in the default catalog, if it is missing.

    Raises:
        CannotStart: the catalog cannot start.
    """
    with ExitStack() as stack:
        make_log_table(
            Components(settings=settings, stack=stack).catalogs.pyiceberg(settings.default_catalog), name
        )


def fetch_jars(settings: Settings, *, is_all: bool) -> tuple[Path, ...]:
    """Fetches the jars that these settings need, or all that any settings may need. Starts no part.

    Raises:
        CannotStart: a jar cannot be fetched or stored.
    """
    with ExitStack() as stack:
        return fetched_jars(settings, Components(settings=settings, stack=stack).jars_folder, is_all=is_all)


def compile_classes(settings: Settings, *, is_for_wheel: bool = False) -> Path:
    """Compiles the Java classes of the engine unless that was done, and returns their jar. Starts no part.

    With `is_for_wheel`, the jar is put where a wheel takes it from.

    Raises:
        CannotStart: a jar cannot be fetched or stored, or the classes do not fit the jars.
    """
    with ExitStack() as stack:
        into = Components(settings=settings, stack=stack).jars_folder
        jars = fetched_jars(settings, into, is_all=False)
        return ship_classes(jars, into) if is_for_wheel else compiled_classes(jars, into)


def migrate(settings: Settings, revision: str | None = None) -> None:
    """Migrates the metrics store's schema to what this version needs, or to another revision.

    Raises:
        MetricsStoreDown: the store did not answer in time.
        CannotStart: the embedded store cannot start, or the revision is not known.
    """
    await_metrics_store(settings)
    with ExitStack() as stack:
        url = Components(settings=settings, stack=stack).metrics_store_url
        if revision is None:
            migrations.upgrade(url)
        else:
            migrations.bring_to(url, revision)
