"""Makes sure that the metrics store has the tables that this version needs."""

from __future__ import annotations

import structlog

import migrations
from api.bootstrap.settings import Settings
from service.errors.gateway_error import CannotStart
from service.errors.unavailable import MetricsStoreDown

_log = structlog.get_logger(__name__)


def migrate_or_check(settings: Settings, url: str) -> None:
    """Migrates the embedded metrics store; an operator's own store is only checked.

    Raises:
        CannotStart: the operator's store has the schema of another version.
    """
    if settings.metrics_store_url is None:
        migrations.upgrade(url)
        return
    try:
        revisions = migrations.revisions(url)
    except MetricsStoreDown:
        # Queries run without it, and their records wait.
        return
    if revisions.is_newer:
        _log.warning("schema_is_newer", found=revisions.found, needed=revisions.needed)
    if not revisions.is_usable:
        raise CannotStart(
            "The schema of the metrics store is of another version: run `sluice migrate` first."
        )
