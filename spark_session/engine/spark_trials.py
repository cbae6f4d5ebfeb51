"""Tries layouts on copies of tables, on the warm session, beside the queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING
from uuid import UUID

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from service.errors.gateway_error import GatewayError
from service.errors.table_errors import TableNotFound
from service.errors.trial_errors import TrialFailed
from service.errors.unavailable import CatalogDown, EngineLost, EngineNotReady
from service.model.query.layout_trial import CountedReads, TrialWork
from service.model.tables.tables import TableName
from spark_session.java.jvm import UNREACHABLE
from spark_session.session.warm_session import WarmSession
from spark_session.spark_errors import in_gateway_terms

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkTrials:
    """Implements the `TrialCopies` port; `session` returns the current session."""

    def __init__(self, session: Callable[[], WarmSession | None]) -> None:
        self._session = session

    def run(self, work: TrialWork, is_rewritten: Callable[[], None]) -> tuple[CountedReads, CountedReads]:
        """See `service.ports.tables.trial_copies.TrialCopies`."""
        with self._child(work.trial_id) as (warm, child):
            copy = warm.layout_trials.begin(child, work.table, work.trial_id, work.snapshot_id)
            now = copy.reads(work.scans)
            copy.change(work.advice)
            is_rewritten()
            return now, copy.reads(work.scans)

    def cancel(self, trial_id: UUID) -> None:
        """See `service.ports.tables.trial_copies.TrialCopies`."""
        session = self._session()
        if session is not None:
            with suppress(*UNREACHABLE):
                session.context.cancelJobsWithTag(_tag(trial_id))

    def drop(self, table: TableName, trial_id: UUID) -> None:
        """See `service.ports.tables.trial_copies.TrialCopies`."""
        with self._child(None) as (warm, child):
            warm.layout_trials.drop(child, table, trial_id)

    @contextmanager
    def _child(self, trial_id: UUID | None) -> Iterator[tuple[WarmSession, SparkSession]]:
        session = self._session()
        if session is None:
            raise EngineNotReady
        try:
            with session.children.taken(None, None, _tag(trial_id)) as child:
                yield session, child
        except (PySparkException, Py4JJavaError) as failure:
            raise _translated(session, failure) from failure
        except UNREACHABLE as failure:
            raise EngineLost from failure


def _tag(trial_id: UUID | None) -> str:
    return "layout-trial" if trial_id is None else f"layout-trial-{trial_id}"


def _translated(session: WarmSession, failure: PySparkException | Py4JJavaError) -> GatewayError:
    if session.is_lost():
        return EngineLost()
    try:
        error = in_gateway_terms(failure)
    except (Py4JError, OSError):
        return EngineLost()
    return error if isinstance(error, TableNotFound | CatalogDown) else TrialFailed(error.detail)
