"""Runs Iceberg's own procedures on the warm session, beside the queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import structlog
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException

from service.errors.gateway_error import GatewayError
from service.errors.maintenance_errors import MaintenanceFailed
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown, EngineLost, EngineNotReady
from service.model.ingest.writing import TableKey
from service.model.operations.maintenance import CompactionWidth
from service.model.tables.tables import TableName
from spark_session.java.jvm import UNREACHABLE
from spark_session.session.warm_session import WarmSession
from spark_session.spark_errors import in_gateway_terms
from spark_session.table_sql_name import table_sql_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = structlog.get_logger(__name__)

JOB_TAG = "maintenance"
OBJECT_STORES = frozenset({"s3", "s3a", "s3n", "gs", "abfs", "abfss", "wasb", "wasbs", "oss"})
# One delete is enough to rewrite a file: PyIceberg reads no table that has any.
_COMPACTION = {"delete-file-threshold": "1", "remove-dangling-deletes": "true"}
# Commits of others during the operation may make Iceberg give up; the next attempt sees the table as it is
# then. If a partition spec was added in the meantime, Iceberg 1.12 only reports that it does not know the
# spec.
_CONFLICTS = ("CommitFailedException", "ValidationException", "PartitionSpec.partitionType()")
ATTEMPTS = 4


class SparkTableMaintenance:
    """Implements `TableMaintenance`; `session` returns the current session."""

    def __init__(
        self,
        session: Callable[[], WarmSession | None],
        width: CompactionWidth = CompactionWidth.WRITE_SCHEMA,
    ) -> None:
        self._session = session
        self._width = width

    def compact(self, key: TableKey) -> Mapping[str, int]:
        """See `service.ports.tables.table_maintenance.TableMaintenance`."""
        # An attempt may have committed part of the work before it gave up.
        before: list[str] = []

        def work(warm: WarmSession, child: SparkSession) -> dict[str, int]:
            if not before:
                before.append(warm.table_deletes.snapshots(child, key))
            # Upserts' deletes do not reach files of an earlier spec: rewrite all files.
            is_all = warm.table_deletes.has_other_specs(child, key)
            options = _COMPACTION | ({"rewrite-all": "true"} if is_all else {})
            rewritten = warm.compaction.rewrite(child, key, options, self._width)
            warm.table_deletes.remove_dangling(child, key)
            # Iceberg's own counts differ from those of its snapshots.
            found = warm.table_deletes.replaced_since(child, key, before[0])
            counts = {
                "rewrittenDataFiles": found.get("deleted-data-files", 0),
                "addedDataFiles": found.get("added-data-files", 0),
                "rewrittenBytes": found.get("removed-files-size", 0),
                "removedDeleteFiles": found.get("removed-delete-files", 0),
            }
            if self._width is CompactionWidth.WRITE_SCHEMA:
                counts["writeSchemas"] = rewritten.get("write_schemas_count", 0)
            return counts

        return self._done(key.table, work)

    def expire(self, table: TableName, older_than: datetime, snapshots_kept: int) -> Mapping[str, int]:
        """See `service.ports.tables.table_maintenance.TableMaintenance`."""

        def work(_: WarmSession, child: SparkSession) -> dict[str, int]:
            before = _snapshot_count(child, table)
            arguments = {"older_than": _moment(older_than), "retain_last": str(snapshots_kept)}
            found = _called(child, "expire_snapshots", table, arguments)
            deleted = {_camel(name): count for name, count in found.items()}
            return {"expiredSnapshots": max(0, before - _snapshot_count(child, table))} | deleted

        return self._done(table, work)

    def remove_orphans(self, table: TableName, older_than: datetime) -> Mapping[str, int]:
        """See `service.ports.tables.table_maintenance.TableMaintenance`."""

        def work(warm: WarmSession, child: SparkSession) -> dict[str, int]:
            arguments = {"older_than": _moment(older_than)}
            if _is_in_object_store(warm, child, table):
                arguments["prefix_listing"] = "true"
            call = _call("remove_orphan_files", table, arguments)
            return {"removedFiles": child.sql(call).count()}

        return self._done(table, work)

    def _done(
        self, table: TableName, work: Callable[[WarmSession, SparkSession], dict[str, int]]
    ) -> Mapping[str, int]:
        for attempt in range(1, ATTEMPTS + 1):
            session = self._session()
            if session is None:
                raise EngineNotReady
            try:
                with session.children.taken(None, None, JOB_TAG) as child:
                    return work(session, child)
            except (PySparkException, Py4JJavaError) as failure:
                error = _translated(session, failure, table)
                if attempt == ATTEMPTS or not _is_conflict(failure):
                    raise error from failure
                log.info("maintenance_conflict", table=str(table), attempt=attempt)
            except UNREACHABLE as failure:
                raise EngineLost from failure
        raise AssertionError("the last attempt ends otherwise")


def _called(
    child: SparkSession, procedure: str, table: TableName, arguments: Mapping[str, str]
) -> dict[str, int]:
    row = child.sql(_call(procedure, table, arguments)).collect()[0]
    return {name: int(value) for name, value in row.asDict().items() if value is not None}


def _is_in_object_store(warm: WarmSession, child: SparkSession, table: TableName) -> bool:
    """Whether only Iceberg can list the table's files: Spark's Hadoop has no file system for them."""
    iceberg = warm.jvm.gateway.jvm.org.apache.iceberg
    loaded = iceberg.spark.Spark3Util.loadIcebergTable(child._jsparkSession, table_sql_name(table))
    return urlsplit(str(loaded.location())).scheme in OBJECT_STORES


def _call(procedure: str, table: TableName, arguments: Mapping[str, str]) -> str:
    named = {"table": _literal(table_sql_name(table))} | dict(arguments)
    text = ", ".join(f"{name} => {value}" for name, value in named.items())
    return f"CALL `{table.catalog}`.system.{procedure}({text})"


def _literal(text: str) -> str:
    r"""Returns a literal of Spark's SQL.

    >>> print(_literal("o'clock\\"))
    'o\'clock\\'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _moment(moment: datetime) -> str:
    return f"TIMESTAMP '{moment.astimezone(UTC).isoformat(sep=' ', timespec='milliseconds')}'"


def _snapshot_count(child: SparkSession, table: TableName) -> int:
    count: int = child.sql(f"SELECT count(*) FROM {table_sql_name(table)}.snapshots").collect()[0][0]
    return count


def _camel(name: str) -> str:
    """Returns a procedure's column as the answer spells it.

    >>> _camel("deleted_data_files_count")
    'deletedDataFiles'
    """
    first, *others = name.removesuffix("_count").split("_")
    return first + "".join(other.capitalize() for other in others)


def _is_conflict(failure: PySparkException | Py4JJavaError) -> bool:
    return any(conflict in str(failure) for conflict in _CONFLICTS)


def _translated(
    session: WarmSession, failure: PySparkException | Py4JJavaError, table: TableName
) -> GatewayError:
    if session.is_lost():
        return EngineLost()
    try:
        error = in_gateway_terms(failure)
    except (Py4JError, OSError):
        return EngineLost()
    if isinstance(error, TableNotFound | CatalogDown):
        return error
    if isinstance(failure, AnalysisException):
        log.warning("maintenance_call_refused", table=str(table), reason=error.detail)
    return MaintenanceFailed(error.detail)
