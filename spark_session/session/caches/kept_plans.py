"""Analyzed plans, kept in the JVM for later queries with the same text and the same states of its tables."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
from cachetools import LRUCache
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from spark_session.java.jvm_cache import JvmCache
from spark_session.java.own_classes import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject

log = structlog.get_logger(__name__)
TEXTS_REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class TakenPlan:
    """The query of a kept plan, which no other query has now."""

    query: DataFrame
    java: JavaObject


class KeptPlans(JvmCache):
    """The cache of one JVM; see `KeptPlans.java`. With 0 bytes, every text is analyzed. Never raises.

    Any thread may call any method. A key has all that an analysis depends on.
    """

    def __init__(self, gateway: JavaGateway, max_bytes: int) -> None:
        java = java_instance(gateway, "sluice.plans.KeptPlans")
        java.keepAtMost(max_bytes)
        super().__init__(java, max_bytes)
        self.is_on = max_bytes > 0
        self._lock = threading.Lock()
        self._asked: LRUCache[str, bool] = LRUCache(TEXTS_REMEMBERED)

    def take(self, child: SparkSession, key: str) -> TakenPlan | None:
        """Returns the analyzed query in this session; None if its plan is not kept, or another query has it.

        Release it when the query has ended well, and forget it otherwise.
        """
        try:
            taken = self._java.find(child._jsparkSession, key)
            return None if taken is None else TakenPlan(DataFrame(taken.query(), child), taken)
        except (PySparkException, Py4JError, OSError) as failure:
            # A lost JVM shows in the next call, which also says what it means.
            log.warning("kept_plan_not_read", error=type(failure).__name__)
            self.forget(key)
            return None

    def release(self, taken: TakenPlan) -> None:
        """Lets another query have the plan: this one evaluates nothing any more."""
        try:
            taken.java.release()
        except (PySparkException, Py4JError, OSError) as failure:
            log.warning("kept_plan_not_released", error=type(failure).__name__)

    def is_asked_again(self, key: str) -> bool:
        """Whether this was called with the key before: most texts that are asked once are not asked twice."""
        with self._lock:
            is_known = key in self._asked
            self._asked[key] = True
        return is_known

    def keep(self, key: str, query: DataFrame) -> TakenPlan | None:
        """Keeps the plan of an analyzed query, if it reads nothing but pinned tables and rows in memory.

        The query has the plan until it is released, as after `take`. None: it is not kept, or was already.
        """
        try:
            taken = self._java.keep(key, query._jdf)
            return None if taken is None else TakenPlan(query, taken)
        except (PySparkException, Py4JError, OSError) as failure:
            log.warning("plan_not_kept", error=type(failure).__name__)
            # Nobody would release it.
            self.forget(key)
            return None

    def forget(self, key: str) -> None:
        """Drops a plan, if it is kept: the next query is analyzed."""
        try:
            self._java.remove(key)
        except (PySparkException, Py4JError, OSError) as failure:
            log.warning("kept_plan_not_forgotten", error=type(failure).__name__)
