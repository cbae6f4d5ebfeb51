"""`sluice jars`: fetches and compiles what the engine needs before the first start."""

from __future__ import annotations

import typer

from api.bootstrap.settings_loading import load_settings
from api.bootstrap.wiring.preparations import compile_classes, fetch_jars


def jars(*, is_all: bool) -> None:
    """Fetches the jars that are missing, and prints how many there are.

    Raises:
        CannotStart: the settings are not valid, or a jar cannot be fetched, compiled or stored.
    """
    settings = load_settings()
    if settings.spark_jars and not is_all:
        compile_classes(settings)
        typer.echo("There is nothing to fetch: spark_jars names the jars.")
        return
    fetched = fetch_jars(settings, is_all=is_all)
    fetched = (*fetched, compile_classes(settings))
    size_mb = sum(jar.stat().st_size for jar in fetched) // 10**6
    typer.echo(f"{len(fetched)} jars are there, {size_mb} MB.")
