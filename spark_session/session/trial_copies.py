"""Asks `LayoutTrials.java` of one JVM for copies of tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from uuid import UUID

from service.errors.trial_errors import TrialFailed
from service.model.query.layout_advice import AdviceKind, LayoutAdvice, ReadAmount
from service.model.query.layout_trial import CountedReads
from service.model.query.scan_predicates import ScanPredicate
from service.model.tables.tables import TableName
from spark_session.java.own_classes import java_instance
from spark_session.table_sql_name import table_sql_name

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject
    from pyspark.sql import SparkSession


class JavaTrialCopy:
    """One copy, by `TrialCopy.java`. Its methods raise Py4JJavaError."""

    def __init__(self, java: JavaObject) -> None:
        self._java = java

    def change(self, advice: LayoutAdvice) -> None:
        """Changes the layout of the copy as advised, and rewrites its files.

        Raises:
            TrialFailed: it is advice on bloom filters.
        """
        match advice.kind:
            case AdviceKind.SORT:
                self._java.sort(list(advice.columns), advice.file_bytes)
            case AdviceKind.PARTITION:
                self._java.partition(advice.columns[0], advice.transform)
            case AdviceKind.FILE_SIZE:
                self._java.resize(advice.file_bytes)
            case AdviceKind.COMPACTION:
                self._java.compact()
            case AdviceKind.BLOOM_FILTER:
                raise TrialFailed("What bloom filters skip is inside files, so no scan would select fewer.")

    def reads(self, scans: Sequence[Sequence[ScanPredicate]]) -> CountedReads:
        """Returns what these scans select of the copy as it is now."""
        asked = [
            [{"column": found.column, "ranges": found.ranges} for found in scan if found.ranges is not None]
            for scan in scans
        ]
        lines = str(self._java.reads(json.dumps(asked))).splitlines()
        whole, *found = (ReadAmount(*map(int, line.split())) for line in lines)
        return CountedReads(whole, found)


class JavaLayoutTrials:
    """Begins and drops copies. Its methods raise Py4JJavaError."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._gateway = gateway

    def begin(
        self, session: SparkSession, table: TableName, trial_id: UUID, snapshot_id: int
    ) -> JavaTrialCopy:
        """Returns a copy of the table at the snapshot; it has no files of its own yet."""
        name = table_sql_name(table)
        return JavaTrialCopy(self._java.begin(session._jsparkSession, name, str(trial_id), snapshot_id))

    def drop(self, session: SparkSession, table: TableName, trial_id: UUID) -> None:
        """Deletes all files of the trial."""
        self._java.drop(session._jsparkSession, table_sql_name(table), str(trial_id))

    @cached_property
    def _java(self) -> JavaObject:
        return java_instance(self._gateway, "sluice.trials.LayoutTrials")
