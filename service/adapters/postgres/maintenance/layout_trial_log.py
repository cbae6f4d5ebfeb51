"""The log of layout trials on PostgreSQL, and the lock to run one.

Trials lie in the table of the maintenance log, in a form that versions without trials leave alone. No
catalog has the name that stands here as the catalog. `ended_at` is set from the beginning, and there are no
operations. So such a row is never due, listed or taken as a maintenance. All of the trial is in `results`,
beside fields that an earlier version can read. Deleting old rows is the same for both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from sqlalchemy import ColumnElement, and_, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from service.adapters.postgres.maintenance.layout_trial_rows import (
    CATALOG,
    IS_OPEN,
    layout_trial,
    progress_values,
    schema_of,
    trial_values,
)
from service.adapters.postgres.maintenance.maintenance_tables import MaintenanceRow
from service.adapters.postgres.shared.advisory_lock import advisory_lock
from service.adapters.postgres.shared.connecting import CONNECTION, store_engine
from service.adapters.postgres.shared.postgres_errors import transaction
from service.errors.unavailable import MetricsStoreDown
from service.model.query.layout_trial import LayoutTrial
from service.model.tables.tables import TableName

OPEN_AT_ONCE = 100
_LOCK = "layout-trial"
_CANCEL = "CANCEL_ASKED"


class PostgresTrialLog:
    """The port `TrialLog`; the table of the maintenance log must be there."""

    def __init__(self, url: str) -> None:
        self._engine = store_engine(url, CONNECTION, pool_size=3, pool_timeout=10)
        self._turns = self._engine.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Yields True if no other process runs a trial while this is open."""
        try:
            with advisory_lock(self._turns, _LOCK) as connection:
                yield connection is not None
        except SQLAlchemyError as error:
            raise MetricsStoreDown() from error

    def add(self, trial: LayoutTrial) -> None:
        """Adds a trial that begins."""
        with transaction(self._engine) as session:
            session.execute(insert(MaintenanceRow).values(trial_values(trial)))

    def save(self, trial: LayoutTrial) -> None:
        """Saves the progress of a trial; one that has ended, and whose copy is dropped, stays as it is."""
        is_it = and_(_is(trial.trial_id), IS_OPEN)
        with transaction(self._engine) as session:
            session.execute(update(MaintenanceRow).where(is_it).values(progress_values(trial)))

    def find(self, trial_id: UUID) -> LayoutTrial | None:
        """Returns the trial as it is now."""
        with transaction(self._engine) as session:
            row = session.scalars(select(MaintenanceRow).where(_is(trial_id))).one_or_none()
            return layout_trial(row) if row else None

    def latest(self, table: TableName, limit: int) -> Sequence[LayoutTrial]:
        """The table's trials, the newest first."""
        row = MaintenanceRow
        of_table = and_(row.catalog == CATALOG, row.schema == schema_of(table), row.table_name == table.table)
        newest = select(row).where(of_table).order_by(row.requested_at.desc()).limit(limit)
        with transaction(self._engine) as session:
            return [layout_trial(found) for found in session.scalars(newest)]

    def open(self) -> Sequence[LayoutTrial]:
        """The trials that have not ended, or left a copy, the oldest first."""
        row = MaintenanceRow
        oldest = select(row).where(IS_OPEN).order_by(row.requested_at).limit(OPEN_AT_ONCE)
        with transaction(self._engine) as session:
            return [layout_trial(found) for found in session.scalars(oldest)]

    def ask_to_cancel(self, trial_id: UUID) -> None:
        """Notes that the trial should end, if it has not."""
        is_it = and_(_is(trial_id), IS_OPEN)
        with transaction(self._engine) as session:
            session.execute(update(MaintenanceRow).where(is_it).values(error_code=_CANCEL))

    def is_canceled(self, trial_id: UUID) -> bool:
        """Whether any caller asked for its end."""
        with transaction(self._engine) as session:
            return session.scalar(select(MaintenanceRow.error_code).where(_is(trial_id))) == _CANCEL

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()


def _is(trial_id: UUID) -> ColumnElement[bool]:
    return and_(MaintenanceRow.maintenance_id == trial_id, MaintenanceRow.catalog == CATALOG)
