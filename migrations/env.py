"""Run by Alembic; the connection, with its transaction and its lock, is handed in by `migrations`."""

from __future__ import annotations

from alembic import context

from service.adapters.ingest_tables import IngestRow

# The ingest log's tables build upon the others', so this module knows them all.
TABLES = IngestRow.metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=TABLES)
context.run_migrations()
