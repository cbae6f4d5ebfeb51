"""Reads how far a table's rows are in the order of an upsert's records, on the engine's current session."""

from __future__ import annotations

import pyarrow as pa
import structlog

from service.errors.gateway_error import GatewayError, PartDown
from service.errors.unavailable import CatalogDown
from service.ports.tables.stored_orders import StoredOrdersQuery
from spark_session.engine.background_work import background_work
from spark_session.engine.engine import SparkEngine

log = structlog.get_logger(__name__)


class SparkStoredOrders:
    """Implements the port `StoredOrders`. A read that takes longer than `within_s` is given up."""

    def __init__(self, engine: SparkEngine, within_s: float) -> None:
        self._engine = engine
        self._within_s = within_s

    def of(self, asked: StoredOrdersQuery) -> pa.Table:
        """See `service.ports.tables.stored_orders.StoredOrders`."""
        says = f"orders of {asked.key.table} at {asked.snapshot_id}"
        try:
            with background_work(self._engine, "sluice.engine.orders", says, self._within_s) as work:
                return work.session.orders.read(asked, work.tag, work.is_late)
        except PartDown:
            raise
        except GatewayError as failure:
            log.warning("stored_orders_failed", table=str(asked.key.table), reason=failure.detail)
            raise CatalogDown(f"Spark cannot read the rows of {asked.key.table} now.") from failure
