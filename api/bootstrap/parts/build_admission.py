"""Builds the rules by which queries are admitted, and the pools of Spark's scheduler for them."""

from __future__ import annotations

from pathlib import Path

from api.bootstrap.settings import Settings
from api.bootstrap.settings.querying.resource_groups import resource_groups
from service.query.admission.slot_bounds import SlotBounds
from service.query.workers.admission_rules import AdmissionRules, default_rules, pool_shares
from spark_session.resources import resource_path
from spark_session.settings.scheduler_pools import scheduler_pools


def admission_rules(settings: Settings) -> AdmissionRules:
    """Returns the operator's resource groups, or one group for each caller."""
    bounds = SlotBounds(
        long_slots=settings.query_workers + 1,
        max_queued=settings.max_queued_queries,
        short_slots=settings.short_query_workers,
        short_max_bytes=settings.short_query_max_bytes,
        short_max_ms=round(settings.short_query_max_s * 1000),
        # Planning may wait for keys, so a few more than would keep the places busy.
        planners=settings.query_workers + 1 + settings.short_query_workers,
        planned_ahead=settings.queries_planned_ahead,
    )
    groups = resource_groups(settings.resource_groups)
    return default_rules(bounds) if groups is None else AdmissionRules(groups, bounds, has_pools=True)


def pools_file(settings: Settings, folder: Path) -> Path:
    """Returns the file that names the scheduler's pools; written into the folder if groups have their own."""
    groups = resource_groups(settings.resource_groups)
    if groups is None:
        return resource_path("fairscheduler.xml")
    path = folder / "fairscheduler.xml"
    path.write_text(scheduler_pools(pool_shares(groups)), encoding="utf-8")
    return path
