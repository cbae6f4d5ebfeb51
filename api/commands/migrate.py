"""`sluice migrate`: the metrics store's schema."""

from __future__ import annotations

import typer

from api.logs import configure_logging
from api.settings_loading import load_settings
from api.wiring import migrate as migrate_store


def migrate() -> None:
    """Brings the schema to what this version needs.

    Raises:
        MetricsStoreDown: PostgreSQL did not answer in time.
    """
    settings = load_settings()
    configure_logging(settings.log_level, settings.log_format)
    migrate_store(settings)
    typer.echo("The metrics store's schema is up to date.")
