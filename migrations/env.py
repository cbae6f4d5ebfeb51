"""Run by Alembic; `migrations` passes in the connection, with its transaction and its lock."""

from __future__ import annotations

from alembic import context

from service.adapters.api_keys.issuer_session_tables import IssuerSessionRow
from service.adapters.api_keys.key_session_tables import KeySessionRow
from service.adapters.api_keys.key_tables import ApiKeyRow
from service.adapters.policies.policy_tables import PolicyRow
from service.adapters.postgres.ingest_log.ingest_tables import IngestRow
from service.adapters.postgres.maintenance.maintenance_tables import MaintenanceRow
from service.adapters.postgres.query_records.replica_tables import ReplicaRow
from service.adapters.postgres.streams.stream_tables import StreamRow
from service.adapters.saved_queries.saved_query_tables import SavedQueryRow
from service.adapters.sql_writes.write_tables import SqlWriteRow

# One metadata for all tables; it knows those of the imported modules.
TABLES = IngestRow.metadata
assert TABLES is MaintenanceRow.metadata is StreamRow.metadata is ReplicaRow.metadata is ApiKeyRow.metadata
assert (
    TABLES is PolicyRow.metadata is SqlWriteRow.metadata is KeySessionRow.metadata is SavedQueryRow.metadata
)
assert TABLES is IssuerSessionRow.metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=TABLES)
context.run_migrations()
