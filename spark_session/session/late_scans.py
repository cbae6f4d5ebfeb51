"""Scans of running queries that late filters may leave with fewer files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

import structlog
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from service.ports.engine.late_filters import LateFilter, LateUse
from spark_session.java.jvm import UNREACHABLE
from spark_session.java.own_classes import java_instance
from spark_session.session.child_sessions import ChildSessions
from spark_session.table_sql_name import table_sql_name

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject

log = structlog.get_logger(__name__)

PLANNERS = 2
PLANNED_WITHIN_S = 2.0
"""How long a run waits for the files of filters that have come before it began."""
_FAILURES = (PySparkException, *UNREACHABLE)


class LateScans:
    """Asks `LateScans.java` in the driver's JVM. A failure leaves scans as they are.

    Unless it `is_on`, late filters are left unused, and Spark's planning is as if there were none.
    """

    def __init__(
        self, gateway: JavaGateway, root: SparkSession, children: ChildSessions, is_on: bool
    ) -> None:
        self._java = java_instance(gateway, "sluice.scans.LateScans") if is_on else None
        if self._java is not None:
            self._java.open(root._jsparkSession)
        self._children = children
        # A condition may come in the thread of a query, whose session must stay its own.
        self._planners = ThreadPoolExecutor(PLANNERS, thread_name_prefix="late-scans")

    @contextmanager
    def watched(self, frame: DataFrame, filters: Sequence[LateFilter]) -> Iterator[LateRun]:
        """Lets the filters leave out files while the block runs the planned frame."""
        run = LateRun(self._scans(frame, filters))
        known: list[Future[None]] = []
        try:
            for late, scan in run.scans:
                if not late.condition.done():
                    self._keep_later(late, scan, run)
                    continue
                with suppress(RuntimeError):  # close() came in between
                    known.append(self._planners.submit(self._keep, late, scan, run))
            wait(known, timeout=PLANNED_WITHIN_S)
            yield run
        finally:
            run.close()

    def close(self) -> None:
        """Gives no more files to scans."""
        self._planners.shutdown(wait=False, cancel_futures=True)

    def _scans(
        self, frame: DataFrame, filters: Sequence[LateFilter]
    ) -> Sequence[tuple[LateFilter, JavaObject]]:
        if self._java is None or not filters:
            return ()
        try:
            execution = frame._jdf.queryExecution()
            found = [
                (late, self._java.watch(execution, str(late.table), late.snapshot_id)) for late in filters
            ]
        except _FAILURES as failure:
            # A lost JVM shows in the next call.
            log.warning("late_scans_not_watched", error=type(failure).__name__)
            return ()
        return [(late, scan) for late, scan in found if scan is not None]

    def _keep_later(self, late: LateFilter, scan: JavaObject, run: LateRun) -> None:
        def keep(_: Future[str | None]) -> None:
            with suppress(RuntimeError):  # close() came in between
                self._planners.submit(self._keep, late, scan, run)

        late.condition.add_done_callback(keep)

    def _keep(self, late: LateFilter, scan: JavaObject, run: LateRun) -> None:
        condition = late.condition.result()
        if condition is None:
            return
        try:
            if scan.isOpen() and not self._is_kept(late, condition, scan) and scan.isOpen():
                run.refuse(late)
        except _FAILURES as failure:
            log.warning("late_filter_not_used", error=type(failure).__name__)
            run.refuse(late)

    def _is_kept(self, late: LateFilter, condition: str, scan: JavaObject) -> bool:
        """Finds the files that the condition selects, as Spark does for a query of the table alone."""
        table = f"{table_sql_name(late.table)} VERSION AS OF {late.snapshot_id}"
        with self._children.taken(None, None, str(uuid4())) as child:
            selected = child.sql(f"SELECT * FROM {table} WHERE {condition}")
            return bool(scan.keep(late.filter_id, selected._jdf.queryExecution()))


class LateRun:
    """The late filters of one run that may still be used, each with its scan."""

    def __init__(self, scans: Sequence[tuple[LateFilter, JavaObject]]) -> None:
        self.scans = scans
        self._refused: set[str] = set()

    def refuse(self, late: LateFilter) -> None:
        """Notes that the files of a filter could not be found."""
        self._refused.add(late.filter_id)

    def close(self) -> None:
        """From now on, nothing is left out."""
        with suppress(*_FAILURES):
            for _, scan in self.scans:
                scan.close()

    def uses(self) -> Mapping[str, LateUse]:
        """Returns what became of the filters whose condition came while the query ran, by their ids."""
        found: dict[str, LateUse] = {}
        try:
            for late, scan in self.scans:
                if scan.isUsed(late.filter_id):
                    found[late.filter_id] = LateUse.USED
                elif scan.hasBegun() and self._is_too_late(late):
                    found[late.filter_id] = LateUse.TOO_LATE
        except _FAILURES as failure:
            log.warning("late_filters_not_read", error=type(failure).__name__)
        return found

    def _is_too_late(self, late: LateFilter) -> bool:
        has_come = late.condition.done() and late.condition.result() is not None
        return has_come and late.filter_id not in self._refused
