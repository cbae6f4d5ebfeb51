"""`sluice jars`: what the engine needs, fetched before the first start."""

from __future__ import annotations

import typer

from api.bootstrap.settings_loading import load_settings
from api.bootstrap.wiring import fetch_jars


def jars(*, is_all: bool) -> None:
    """Fetches what is not there yet, and prints how much there is.

    Raises:
        CannotStart: the settings do not fit, or a jar cannot be fetched or kept.
    """
    settings = load_settings()
    if settings.spark_jars and not is_all:
        typer.echo("Nothing is to be fetched: spark_jars names the jars.")
        return
    fetched = fetch_jars(settings, is_all=is_all)
    size_mb = sum(jar.stat().st_size for jar in fetched) // 10**6
    typer.echo(f"{len(fetched)} jars are there, {size_mb} MB.")
