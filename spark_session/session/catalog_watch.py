"""Opens the catalogs, watches them, and knows why one cannot be used."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import structlog
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from service.model.operations.fault_text import fault_text
from service.periodic_worker import PeriodicWorker
from spark_session.spark_errors import causes_of

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark.sql import SparkSession

    from spark_session.session.child_sessions import ChildSessions


log = structlog.get_logger(__name__)

CHECK_EVERY_S = 10.0
HANGS_AFTER_S = 20.0

# Where to find a database's JDBC driver, by the beginning of its addresses.
DRIVERS: Mapping[str, str] = {
    "jdbc:sqlite": "org.xerial:sqlite-jdbc:3.50.3.0",
    "jdbc:mysql": "com.mysql:mysql-connector-j:9.4.0",
    "jdbc:mariadb": "org.mariadb.jdbc:mariadb-java-client:3.5.6",
    "jdbc:sqlserver": "com.microsoft.sqlserver:mssql-jdbc:13.2.0.jre11",
    "jdbc:oracle": "com.oracle.database.jdbc:ojdbc17:23.9.0.25.07",
    "jdbc:postgresql": "org.postgresql:postgresql:42.7.8",
}
_NO_DRIVER = re.compile(r"No suitable driver found for (jdbc:\w+)")


class CatalogWatch:
    """Opens each catalog for all sessions, and checks each regularly.

    A catalog that cannot be opened is tried again in each round. Any thread may call any method.
    """

    def __init__(
        self,
        root: SparkSession,
        children: ChildSessions,
        names: Sequence[str],
        check_every_s: float = CHECK_EVERY_S,
    ) -> None:
        self._root = root
        self._children = children
        self._names = tuple(names)
        self._faults: dict[str, str] = {}
        self._asking: tuple[str, float] | None = None
        self._worker = PeriodicWorker("catalog-watch", self._ask_all, check_every_s, waits_first=True)

    def start(self) -> None:
        """Opens the catalogs that answer, and begins to watch all of them."""
        self._ask_all()
        self._worker.start()

    def close(self) -> None:
        """Stops watching."""
        self._worker.close()

    def faults(self) -> Mapping[str, str]:
        """Returns why a catalog cannot be used in the engine, by its name, without addresses or secrets."""
        asking = self._asking
        faults = dict(self._faults)
        if asking is not None and time.monotonic() - asking[1] > HANGS_AFTER_S:
            faults.setdefault(asking[0], f"it has not answered the engine for {HANGS_AFTER_S:g} s")
        return faults

    def _ask_all(self) -> None:
        for name in self._names:
            if self._worker.is_closing:
                return
            self._asking = (name, time.monotonic())
            self._note(name, self._fault_of(name))
            self._asking = None

    def _fault_of(self, name: str) -> str | None:
        try:
            self._children.open_catalog(name)
            self._root._jsparkSession.sessionState().catalogManager().catalog(name).listNamespaces()
        except (PySparkException, Py4JJavaError) as failure:
            return reason(causes_of(failure))
        except (Py4JError, OSError, AttributeError, AssertionError):
            # The JVM is gone, and PySpark has forgotten it: the engine reports that on its own.
            return None
        return None

    def _note(self, name: str, fault: str | None) -> None:
        if fault == self._faults.get(name):
            return
        if fault is None:
            del self._faults[name]
            log.info("catalog_answers_again", catalog=name)
            return
        self._faults[name] = fault
        log.warning("catalog_not_usable", catalog=name, reason=fault)


def missing_driver(uri: str, packages: Sequence[str]) -> str | None:
    """Returns the JDBC driver for a database's address that the packages lack; None if none is missing.

    >>> missing_driver("jdbc:sqlite:/lake.db", ["org.postgresql:postgresql:42.7.8"])
    'org.xerial:sqlite-jdbc:3.50.3.0'
    >>> missing_driver("jdbc:postgresql://db/lake", ["org.postgresql:postgresql:42.7.1"]) is None
    True
    """
    driver = next((driver for prefix, driver in DRIVERS.items() if uri.startswith(f"{prefix}:")), None)
    has_it = driver is None or any(_same_artifact(driver, package) for package in packages)
    return None if has_it else driver


def _same_artifact(one: str, other: str) -> bool:
    return one.rpartition(":")[0] == other.rpartition(":")[0]


def reason(causes: Sequence[JavaObject]) -> str:
    """Returns the innermost cause with its class, and a hint if a driver is missing; no address in it."""
    innermost = causes[-1]
    return reason_of(innermost.getClass().getName(), str(innermost.getMessage() or ""))


def reason_of(class_name: str, message: str) -> str:
    """Returns the reason for a cause's class and message.

    >>> reason_of("SQLException", "No suitable driver found for jdbc:sqlite:/lake.db").partition("; ")[2]
    'add org.xerial:sqlite-jdbc:3.50.3.0 to spark_extra_packages'
    """
    missing = _NO_DRIVER.search(message)
    cure = f"; add {DRIVERS[missing[1]]} to spark_extra_packages" if missing and missing[1] in DRIVERS else ""
    return fault_text(class_name, message) + cure
