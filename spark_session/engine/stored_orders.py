"""Reads how far a table's rows are in the order of an upsert's records, on the engine's current session."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from uuid import uuid4

import pyarrow as pa
import structlog

from service.errors.gateway_error import GatewayError, PartDown
from service.errors.unavailable import CatalogDown
from service.model.policies.decisions import FULL_ACCESS
from service.ports.engine.query_engine import Statement
from service.ports.tables.stored_orders import StoredOrdersQuery
from spark_session.engine.engine import SparkEngine

log = structlog.get_logger(__name__)


class SparkStoredOrders:
    """Implements the port `StoredOrders`. A read that takes longer than `within_s` is given up."""

    def __init__(self, engine: SparkEngine, within_s: float) -> None:
        self._engine = engine
        self._within_s = within_s

    def of(self, asked: StoredOrdersQuery) -> pa.Table:
        """See `service.ports.tables.stored_orders.StoredOrders`."""
        statement = _statement(asked, _is_late(self._within_s))
        tag = str(statement.query_id)
        late = threading.Timer(self._within_s, self._engine.cancel, [statement.query_id])
        late.daemon = True
        late.start()
        try:
            with (
                self._engine.calls.session(statement, "sluice.engine.orders", is_background=True) as session,
                session.jobs.of(tag),
            ):
                return session.orders.read(asked, tag, statement.is_canceled)
        except PartDown:
            raise
        except GatewayError as failure:
            log.warning("stored_orders_failed", table=str(asked.key.table), reason=failure.detail)
            raise CatalogDown(f"Spark cannot read the rows of {asked.key.table} now.") from failure
        finally:
            late.cancel()


def _statement(asked: StoredOrdersQuery, is_canceled: Callable[[], bool]) -> Statement:
    """Returns the statement that stands for the read."""
    return Statement(
        query_id=uuid4(),
        sql=f"orders of {asked.key.table} at {asked.snapshot_id}",
        parameters=(),
        catalog=None,
        schema=None,
        row_limit=asked.keys.num_rows,
        byte_limit=asked.keys.nbytes,
        is_canceled=is_canceled,
        access=FULL_ACCESS,
    )


def _is_late(within_s: float) -> Callable[[], bool]:
    until_s = time.monotonic() + within_s
    return lambda: time.monotonic() > until_s
