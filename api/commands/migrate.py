"""`sluice migrate`: the metrics store's schema."""

from __future__ import annotations

import typer

from api.settings_loading import load_settings
from api.wiring import migrate as migrate_store


def migrate() -> None:
    """Brings the schema to what this version needs.

    Raises:
        MetricsStoreDown: PostgreSQL does not answer.
    """
    migrate_store(load_settings())
    typer.echo("The metrics store's schema is up to date.")
