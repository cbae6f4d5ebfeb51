"""Deletes what no replica deletes any more: results of lost replicas, and rows of unfinished queries."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

import structlog

from service.adapters.results.manifest_file import NAME

log = structlog.get_logger(__name__)

# The replica that has kept a result deletes it itself; clocks of machines differ.
GRACE = timedelta(minutes=1)


def delete_leftovers(
    root: Path, now: datetime, unfinished_after: timedelta, is_own: Callable[[UUID], bool]
) -> None:
    """Deletes expired results of others, and folders without a manifest that have not changed for so long.

    Folders that are not named by a query's id are left alone. `is_own` tells this process's results.
    """
    with suppress(OSError):
        for folder in list(root.iterdir()):
            query_id = _query_id(folder.name)
            if query_id is not None and not is_own(query_id) and _is_over(folder, now, unfinished_after):
                log.info("leftover_result_deleted", query_id=str(query_id))
                shutil.rmtree(folder, ignore_errors=True)


def _is_over(folder: Path, now: datetime, unfinished_after: timedelta) -> bool:
    try:
        return now.timestamp() > (folder / NAME).stat().st_mtime + GRACE.total_seconds()
    except FileNotFoundError:
        pass
    try:
        return now.timestamp() > folder.stat().st_mtime + unfinished_after.total_seconds()
    except OSError:
        return False


def _query_id(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None
