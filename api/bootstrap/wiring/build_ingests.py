"""Wires the parts of the ingest, for `api.bootstrap.wiring.build_gateway`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

from api.bootstrap.parts.shared_clocks import deletion_clock
from api.bootstrap.settings import Settings
from api.bootstrap.wiring.build_streams import body_bounds
from service.adapters.catalogs.catalogs import PyIcebergCatalogs
from service.adapters.catalogs.iceberg_schema_json import schema_from_json
from service.adapters.commits.dead_letter_tables import PyIcebergDeadLetterTables
from service.adapters.commits.table_changes import PyIcebergTableChanges
from service.adapters.commits.table_commits import PyIcebergTableCommits
from service.adapters.commits.writable_tables import PyIcebergWritableTables
from service.adapters.data_files.metrics.content_files import data_file
from service.adapters.data_files.read_back.uncommitted_rows import ParquetWrittenRows
from service.adapters.data_files.writer.parquet_data_files import ParquetDataFiles
from service.adapters.data_files.writer.turns import Turns
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.adapters.disk.synced_files import Sync, not_synced, sync_files
from service.adapters.postgres.ingest_log.commit_rounds import RoundBounds
from service.adapters.postgres.ingest_log.ingest_history import PostgresIngestHistory
from service.adapters.postgres.ingest_log.ingest_log import PostgresIngestLog
from service.adapters.postgres.shared.outage import Outage
from service.adapters.staging.spool import SpoolDirectory
from service.adapters.telemetry.query_metrics import QueryMetrics
from service.ingest.committing.announced_commits import AnnouncedCommits
from service.ingest.committing.commit_pace import CommitPace
from service.ingest.committing.committer import Committer
from service.ingest.committing.rewriting import Rewriting
from service.ingest.dead_letters.dead_letters import FIELDS as DEAD_LETTER_FIELDS
from service.ingest.distributed.large_parts import LargeInputs
from service.ingest.ingest_service import IngestService
from service.ingest.retention import IngestRetention
from service.ingest.run_ingest import IngestPorts
from service.ingest.schema_changes.change_rules import ChangeRules
from service.model.tables.schemas import TableSchema
from service.model.tables.tables import TableName
from service.ports.clock import Clock
from service.ports.stores.audit_log import AuditTrail
from service.ports.tables.stored_orders import StoredOrders
from service.ports.tables.table_changes import RowDeltas
from service.ports.tables.vector_writer import VectorWriter
from service.ports.telemetry.lineage import Lineage


def build_ingests(
    settings: Settings,
    catalogs: PyIcebergCatalogs,
    row_deltas: RowDeltas,
    stored_orders: StoredOrders,
    vector_writer: VectorWriter,
    store_url: str,
    spool_folder: Path,
    large: LargeInputs,
    clock: Clock,
    stack: ExitStack,
    metrics: QueryMetrics,
    lineage: Lineage,
    trail: AuditTrail,
    committed: Callable[[TableName], None],
) -> IngestService:
    """Builds the ingests, and begins to commit what an earlier process left. The log's tables must exist.

    `committed` is called after each commit; it must neither block nor raise.
    """
    log = _log(settings, store_url, clock, stack)
    tables = PyIcebergWritableTables(catalogs)
    data_files = _data_files(settings)
    rewriting = Rewriting(tables, ParquetWrittenRows(), data_files)
    commits = PyIcebergTableCommits(
        catalogs,
        data_file,
        row_deltas=row_deltas,
        sync=_sync(settings),
        upsert_listed_files=settings.ingest_upsert_listed_files,
        stored_orders=stored_orders,
        ordered_keys_at_once=settings.ingest_ordered_keys,
        vector_writer=vector_writer,
        vector_rows=settings.ingest_upsert_vector_rows,
    )
    announced = AnnouncedCommits(commits, committed)
    committer = Committer(log, announced, clock, _pace(settings), metrics.ingests, rewriting, lineage)
    stack.callback(committer.close, 0)
    spools = SpoolDirectory(spool_folder, settings.ingest_max_spooled_bytes)
    stack.callback(spools.close)
    ports = IngestPorts(
        tables=tables,
        data_files=data_files,
        dead_letters=PyIcebergDeadLetterTables(catalogs, TableSchema(0, DEAD_LETTER_FIELDS)),
        log=log,
        clock=clock,
        writable_names=settings.ingest_tables,
        bounds=body_bounds(settings),
        large=large,
        metrics=metrics.ingests,
        turn=Turns(settings.ingest_turns, settings.ingest_max_wait_s).turn,
        changes=PyIcebergTableChanges(catalogs),
        spools=spools,
        lineage=lineage,
        change_rules=ChangeRules(
            settings.ingest_created_tables,
            settings.ingest_evolved_tables,
            settings.ingest_max_fields,
            settings.ingest_max_sort_orders,
        ),
        trail=trail,
    )
    history = _history(settings, store_url, clock, stack)
    metrics.pools.add("ingest_log", lambda: log.pool)
    metrics.pools.add("commit_rounds", lambda: log.rounds_pool)
    metrics.pools.add("ingest_history", lambda: history.pool)
    metrics.caches.add("spooled_bodies", lambda: spools.use)
    return IngestService(ports, committer, schema_from_json, history, settings.ingest_max_waiting)


def _log(settings: Settings, store_url: str, clock: Clock, stack: ExitStack) -> PostgresIngestLog:
    rounds = RoundBounds(
        ingests=settings.ingest_commit_max_ingests,
        byte_count=settings.ingest_commit_max_bytes,
        joined_rows=settings.ingest_upsert_joined_rows,
        joined_files=settings.ingest_upsert_joined_files,
    )
    log = PostgresIngestLog(
        store_url,
        parallel_rounds=settings.ingest_parallel_commits,
        round_bounds=rounds,
        outage=Outage(settings.metrics_store_failover_s, clock),
    )
    stack.callback(log.close)
    return log


def _pace(settings: Settings) -> CommitPace:
    return CommitPace(
        interval_ms=settings.ingest_commit_interval_ms,
        max_files=settings.ingest_commit_max_files,
        parallel_rounds=settings.ingest_parallel_commits,
    )


def _sync(settings: Settings) -> Sync:
    return sync_files if settings.ingest_fsync else not_synced


def _data_files(settings: Settings) -> ParquetDataFiles:
    bounds = WriteBounds(
        buffered_bytes=settings.ingest_buffered_bytes,
        open_files=settings.ingest_open_files,
        upsert_bytes=settings.ingest_upsert_bytes,
        files=settings.ingest_max_files,
        writers=settings.ingest_writers,
    )
    return ParquetDataFiles(bounds, _sync(settings))


def _history(settings: Settings, store_url: str, clock: Clock, stack: ExitStack) -> PostgresIngestHistory:
    """Builds the history, and begins to delete what is older than the retention."""
    history = PostgresIngestHistory(store_url)
    stack.callback(history.close)
    retained_for = timedelta(days=settings.ingest_retention_days)
    retention = IngestRetention(history, deletion_clock(store_url, clock, stack), retained_for)
    stack.callback(retention.close)
    retention.start()
    return history
