"""Parts that are down, and a gateway that is busy or stops."""

from __future__ import annotations

from service.errors.gateway_error import PartDown


class EngineLost(PartDown):
    """The engine was lost while the query ran. A new one is being started; send the query again.

    `may_run_again`: whether the gateway may run the query again on its own.
    """

    code = "ENGINE_LOST"

    is_gone = False
    """Whether the process of the engine is known to have ended, so that it can commit nothing any more."""

    def __init__(self, detail: str | None = None, may_run_again: bool = True) -> None:
        super().__init__(detail)
        self.may_run_again = may_run_again


class EngineNotReady(PartDown):
    """The engine is not warm yet."""

    code = "ENGINE_NOT_READY"


class CatalogDown(PartDown):
    """The catalog does not answer."""

    code = "CATALOG_DOWN"


class MetricsStoreDown(PartDown):
    """The metrics store does not answer."""

    code = "METRICS_STORE_DOWN"


class FilterCacheDown(PartDown):
    """The filter cache does not answer."""

    code = "FILTER_CACHE_DOWN"


class StorageDown(PartDown):
    """The table's storage does not accept files."""

    code = "STORAGE_DOWN"


class ExecutorsFailed(PartDown):
    """Spark's executors could not do this work; the log has the cause. Nothing was accepted."""

    code = "EXECUTORS_FAILED"


class GatewayBusy(PartDown):
    """All of the gateway's threads are taken, and none became free in time. Send the request again."""

    code = "GATEWAY_BUSY"


class ShuttingDown(PartDown):
    """The gateway is shutting down."""

    code = "SHUTTING_DOWN"
