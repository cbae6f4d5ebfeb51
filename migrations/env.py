"""Run by Alembic; the connection, with its transaction and its lock, is handed in by `migrations`."""

from __future__ import annotations

from alembic import context

from service.adapters.ingest_tables import IngestRow
from service.adapters.maintenance_tables import MaintenanceRow

# Whose modules are imported, they know; the ingest log's build upon those of queries.
assert IngestRow.metadata is MaintenanceRow.metadata
TABLES = IngestRow.metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=TABLES)
context.run_migrations()
