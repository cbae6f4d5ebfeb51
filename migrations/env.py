"""Run by Alembic; the connection, with its transaction and its lock, is handed in by `migrations`."""

from __future__ import annotations

from alembic import context

from service.adapters.metrics_tables import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
context.run_migrations()
