"""Sends the record of a query on its way to the metrics store."""

from __future__ import annotations

from dataclasses import replace

from service.model.query.lineage import ResultLineage
from service.ports.stores.query_store import Journal
from service.query.registry.query_handle import QueryHandle

MAX_PLAN_CHARACTERS = 200_000


def record(
    query: QueryHandle, journal: Journal, plan_text: str = "", lineage: ResultLineage | None = None
) -> None:
    """Sends the query's record on its way to the metrics store."""
    journal.append(replace(query.record, spark_plan=plan_text[:MAX_PLAN_CHARACTERS], lineage=lineage))
    query.recorded.set_result(None)
    query.let_go()
