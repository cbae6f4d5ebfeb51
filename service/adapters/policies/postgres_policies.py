"""Implements the `PolicyStore` port on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC

from sqlalchemy import Connection, RowMapping, Table, bindparam, delete, func, select
from sqlalchemy.dialects.postgresql import insert

from service.adapters.policies.policy_rows import policy_of, policy_set, row_of
from service.adapters.policies.policy_tables import PolicyChangeRow, PolicyRow
from service.adapters.postgres.shared.connecting import DURABLE, store_engine
from service.adapters.postgres.shared.postgres_errors import answering
from service.adapters.postgres.shared.storable import storable
from service.errors.policy_errors import PoliciesChanged, PoliciesDown
from service.model.policies.policies import AnyPolicy, PolicySet
from service.model.policies.policy_changes import PolicyChange, PolicyDifference, difference

SILENT_AT_MOST_S = 12.0
_POLICIES: Table = PolicyRow.metadata.tables["policies"]
_CHANGES: Table = PolicyChangeRow.metadata.tables["policy_changes"]
_COLUMNS = ("kind", "role", "table_pattern", "action", "column_name", "expression")
_EMPTY: dict[str, str | None] = dict.fromkeys(_COLUMNS)
_ADDED = insert(_POLICIES).values({name: bindparam(name) for name in _COLUMNS})


class PostgresPolicies:
    """Policies in tables that `migrations.upgrade` creates. Any thread may call any method."""

    def __init__(self, url: str) -> None:
        self._engine = store_engine(
            url,
            DURABLE,
            silent_at_most_s=SILENT_AT_MOST_S,
            pool_size=2,
            max_overflow=2,
            pool_timeout=3,
        )

    def version(self) -> int:
        """See the port's `version`."""
        with self._transaction() as connection:
            return _version(connection)

    def load(self) -> PolicySet:
        """See the port's `load`."""
        # Both reads see the same state.
        with self._transaction("REPEATABLE READ") as connection:
            return _loaded(connection)[0]

    def replace(self, policies: PolicySet, *, expected_version: int, by: str) -> PolicySet:
        """See the port's `replace`."""
        with self._transaction() as connection:
            found, ids = _loaded(connection)
            if found.version != expected_version:
                raise PoliciesChanged(found.version)
            change = difference(found, policies)
            if not change:
                return found
            version = expected_version + 1
            # First, since it waits for another change to the same version, and then finds it.
            if not _note(connection, version, by, change):
                raise PoliciesChanged(version)
            if change.removed:
                gone = [ids[policy] for policy in change.removed]
                connection.execute(delete(_POLICIES).where(_POLICIES.c.policy_id.in_(gone)))
            if change.added:
                connection.execute(_ADDED, [{**_EMPTY, **row_of(policy)} for policy in change.added])
            return policy_set(version, policies.policies)

    def changes(self, limit: int) -> Sequence[PolicyChange]:
        """See the port's `changes`."""
        latest = select(_CHANGES).order_by(_CHANGES.c.version.desc()).limit(limit)
        with self._transaction() as connection:
            return [_change(row) for row in connection.execute(latest).mappings()]

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, isolation: str = "READ COMMITTED") -> Iterator[Connection]:
        engine = self._engine.execution_options(isolation_level=isolation)
        with answering(), _reading(), engine.begin() as connection:
            yield connection


def _version(connection: Connection) -> int:
    return int(connection.scalar(select(func.coalesce(func.max(_CHANGES.c.version), 0))) or 0)


def _loaded(connection: Connection) -> tuple[PolicySet, dict[AnyPolicy, int]]:
    version = _version(connection)
    rows = connection.execute(select(_POLICIES)).mappings()
    ids = {policy_of(dict(row)): int(row["policy_id"]) for row in rows}
    return policy_set(version, ids), ids


def _note(connection: Connection, version: int, by: str, change: PolicyDifference) -> bool:
    """Stores the change. Returns False if another change has made this version."""
    noted = insert(_CHANGES).values(
        version=version,
        changed_at=func.clock_timestamp(),
        changed_by=storable(by),
        added=[row_of(policy) for policy in change.added],
        removed=[row_of(policy) for policy in change.removed],
    )
    made = connection.execute(noted.on_conflict_do_nothing().returning(_CHANGES.c.version))
    return made.scalar() is not None


def _change(row: RowMapping) -> PolicyChange:
    return PolicyChange(
        row["version"],
        row["changed_at"].astimezone(UTC),
        row["changed_by"],
        PolicyDifference(tuple(map(policy_of, row["added"])), tuple(map(policy_of, row["removed"]))),
    )


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except (ValueError, KeyError) as error:
        # To leave out what cannot be read could show what a denial, a filter or a mask hides.
        raise PoliciesDown("A newer version wrote the stored policies. This one cannot read them.") from error
