"""The `sluice` command."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import orjson
import typer
from rich.console import Console

from api.demonstration.demo import run_demo
from api.demonstration.demo_ingest import LOG_TABLE
from api.demonstration.demo_progress import progress_bar
from api.logs import configure_logging
from api.masking import masked
from api.server import bind
from api.server import serve as serve_until_stopped
from api.settings import LogFormat, LogLevel, Settings
from api.settings_loading import load_settings
from api.settings_page import settings_page
from api.stop_deadline import StopDeadline
from api.wiring import STAR_TABLES, build_gateway, load_demo_data, make_demo_log
from api.wiring import migrate as migrate_store
from service.errors import GatewayError
from spark_session.jars import check_java

STOPPED_WITHIN_S = 10
"""What is left, after the bound on queries, until the process ends, whatever hangs in it."""

app = typer.Typer(
    help="A query gateway for lakehouses.", no_args_is_help=True, add_completion=False, rich_markup_mode=None
)


@app.command()
def serve() -> None:
    """Serves until SIGINT or SIGTERM. Settings: `sluice config`, and docs/settings.md."""
    with _one_sentence_errors():
        settings = load_settings()
        configure_logging(settings.log_level, settings.log_format)
        deadline = StopDeadline(settings.shutdown_timeout_s + STOPPED_WITHIN_S)
        serve_until_stopped(settings, lambda: build_gateway(settings), _say_listening, deadline.begin)


@app.command()
def check() -> None:
    """Says whether `serve` could start here: its settings, its Java and its port. Starts nothing."""
    with _one_sentence_errors():
        settings = load_settings()
        check_java()
        bind(settings.host, settings.port).close()
        typer.echo("The gateway could start.", err=True)


@app.command()
def demo() -> None:
    """Makes the demo lakehouse once, asks one question and sends one ingest over HTTP, and shows both."""
    with _one_sentence_errors():
        settings = load_settings()
        configure_logging(LogLevel.WARNING, LogFormat.CONSOLE)
        _load(settings, "tpcds", 0.1, STAR_TABLES)
        make_demo_log(settings, LOG_TABLE)
        run_demo(settings, Console())


@app.command("demo-data")
def demo_data(
    scale: Annotated[float, typer.Option(help="TPC-DS scale factor; 1 is about 1 GB of text")] = 0.1,
    schema: Annotated[str, typer.Option(help="schema of the default catalog that gets the tables")] = "tpcds",
    is_all: Annotated[bool, typer.Option("--all", help="all 24 tables, not just the first six")] = False,
) -> None:
    """Loads real TPC-DS data, and makes the log table; what is there stays, an interrupted load goes on."""
    with _one_sentence_errors():
        settings = load_settings()
        configure_logging(LogLevel.WARNING, LogFormat.CONSOLE)
        _load(settings, schema, scale, () if is_all else STAR_TABLES)
        make_demo_log(settings, LOG_TABLE)


@app.command()
def migrate() -> None:
    """Brings the metrics store's schema to what this version needs. May be run again."""
    with _one_sentence_errors():
        migrate_store(load_settings())
        typer.echo("The metrics store's schema is up to date.")


@app.command()
def config(
    is_describing: Annotated[bool, typer.Option("--describe", help="every setting with its meaning")] = False,
) -> None:
    """Prints the settings as this environment gives them, secrets masked."""
    if is_describing:
        typer.echo(settings_page(), nl=False)
        return
    with _one_sentence_errors():
        typer.echo(orjson.dumps(masked(load_settings()), option=orjson.OPT_INDENT_2).decode())


def main() -> None:
    """The console script."""
    app()


def _load(settings: Settings, schema: str, scale: float, tables: tuple[str, ...]) -> None:
    console = Console(stderr=True)
    with progress_bar(console) as tell:
        report = load_demo_data(settings, schema, scale, tables, tell)
    rows = sum(report.loaded.values())
    where = f"{settings.default_catalog}.{schema}"
    if report.loaded:
        console.print(f"{where}: {len(report.loaded)} tables with {rows:,} rows loaded.")
    else:
        console.print(f"{where}: all {len(report.skipped)} tables are there already.")


def _say_listening(url: str) -> None:
    # The one line on standard output: scripts that start the server read its address here.
    typer.echo(f"sluice listens on {url}")
    sys.stdout.flush()


@contextmanager
def _one_sentence_errors() -> Iterator[None]:
    try:
        yield
    except GatewayError as error:
        typer.echo(f"sluice: {error.detail}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        typer.echo("sluice: interrupted", err=True)
        raise typer.Exit(130) from None


if __name__ == "__main__":
    main()
