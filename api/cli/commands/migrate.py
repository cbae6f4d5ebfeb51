"""`sluice migrate`: the metrics store's schema."""

from __future__ import annotations

import typer

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings_loading import load_settings
from api.bootstrap.shown_settings import secrets_of
from api.bootstrap.wiring.preparations import migrate as migrate_store


def migrate(revision: str | None) -> None:
    """Brings the schema to what this version needs, or to the given revision.

    Raises:
        MetricsStoreDown: PostgreSQL did not answer in time.
        CannotStart: there is no such revision.
    """
    settings = load_settings()
    configure_logging(settings.log_level, settings.log_format, secrets_of(settings))
    migrate_store(settings, revision)
    is_newest = revision is None
    typer.echo(f"The metrics store's schema is {'up to date' if is_newest else f'at {revision}'}.")
