"""`sluice demo` and `sluice demo-data`: a lakehouse to try the gateway on."""

from __future__ import annotations

from rich.console import Console

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings import LogFormat, LogLevel, Settings
from api.bootstrap.settings_loading import load_settings
from api.bootstrap.wiring.preparations import STAR_TABLES, load_demo_data, make_demo_log
from api.cli.demonstration.demo import run_demo
from api.cli.demonstration.demo_ingest import LOG_TABLE
from api.cli.demonstration.demo_progress import progress_bar


def demo() -> None:
    """Creates the demo lakehouse once, runs one query and one ingest, and shows both.

    Raises:
        CannotStart: a part does not start.
    """
    settings = load_settings()
    configure_logging(LogLevel.WARNING, LogFormat.CONSOLE)
    _load(settings, "tpcds", 0.1, STAR_TABLES)
    make_demo_log(settings, LOG_TABLE)
    run_demo(settings, Console())


def demo_data(schema: str, *, scale: float, is_all: bool) -> None:
    """Loads TPC-DS data into a schema of the default catalog, and creates the log table.

    Raises:
        CannotStart: a part that the load needs does not start.
    """
    settings = load_settings()
    configure_logging(LogLevel.WARNING, LogFormat.CONSOLE)
    _load(settings, schema, scale, () if is_all else STAR_TABLES)
    make_demo_log(settings, LOG_TABLE)


def _load(settings: Settings, schema: str, scale: float, tables: tuple[str, ...]) -> None:
    console = Console(stderr=True)
    with progress_bar(console) as show:
        report = load_demo_data(settings, schema, scale, tables, show)
    rows = sum(report.loaded.values())
    where = f"{settings.default_catalog}.{schema}"
    if report.loaded:
        console.print(f"{where}: {len(report.loaded)} tables with {rows:,} rows loaded.")
    else:
        console.print(f"{where}: all {len(report.skipped)} tables exist already.")
