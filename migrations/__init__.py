"""The schema of the metrics store, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, NullPool, text
from sqlalchemy.exc import OperationalError

from service.adapters.postgres.shared.connecting import store_engine
from service.errors.gateway_error import CannotStart
from service.errors.unavailable import MetricsStoreDown

# An arbitrary number: all replicas must use the same one, and nothing else may use it.
LOCK_KEY = 0x5_1C_CE
CONNECTION = {"connect_timeout": 5, "options": "-c lock_timeout=60000"}


def upgrade(url: str, revision: str = "head") -> None:
    """Upgrades the schema to `revision`, all of it or nothing; one process at a time, others wait.

    A schema of a newer version stays as it is.

    Raises:
        MetricsStoreDown: PostgreSQL does not answer.
    """
    with _locked(url) as connection:
        if not _revisions(connection).is_newer:
            command.upgrade(_config(connection), revision)


def downgrade(url: str, revision: str) -> None:
    """Downgrades the schema to `revision` (`base`: nothing is left), all of it or nothing.

    Raises:
        MetricsStoreDown: PostgreSQL does not answer.
    """
    with _locked(url) as connection:
        command.downgrade(_config(connection), revision)


def bring_to(url: str, revision: str) -> None:
    """Brings the schema to a revision that this version knows, forward or back; all of it or nothing.

    Raises:
        CannotStart: there is no such revision, or the schema was made by a newer version.
        MetricsStoreDown: PostgreSQL does not answer.
    """
    with _locked(url) as connection:
        revisions, config = _revisions(connection), _config(connection)
        if revisions.is_newer:
            raise CannotStart("A newer version has made the schema: only that one can take it back.")
        if revision not in revisions.known:
            raise CannotStart(f"There is no schema {revision}: {min(revisions.known)} is the first one.")
        scripts = ScriptDirectory.from_config(config)
        behind = {script.revision for script in scripts.iterate_revisions(revisions.found or "base", "base")}
        if revision in behind:
            command.downgrade(config, revision)
        else:
            command.upgrade(config, revision)


def is_current(url: str) -> bool:
    """Whether the schema is the one that this version of the gateway needs.

    Raises:
        MetricsStoreDown: PostgreSQL does not answer.
    """
    return revisions(url).is_current


@dataclass(frozen=True, slots=True)
class Revisions:
    """The schema's revision, and the one that this version needs; empty: there is no schema."""

    found: tuple[str, ...]
    needed: tuple[str, ...]
    known: frozenset[str] = frozenset()
    """All revisions that this version knows."""

    @property
    def is_current(self) -> bool:
        """Whether both are the same."""
        return set(self.found) == set(self.needed)

    @property
    def is_newer(self) -> bool:
        """Whether a newer version made the schema; this one runs with it while replicas are updated."""
        return not self.known.issuperset(self.found)

    @property
    def is_usable(self) -> bool:
        """Whether this version runs with the schema."""
        return self.is_current or self.is_newer


def revisions(url: str) -> Revisions:
    """Returns the schema's revision and the needed one. Changes nothing.

    Raises:
        MetricsStoreDown: PostgreSQL does not answer.
    """
    with _connected(url) as connection:
        return _revisions(connection)


def _revisions(connection: Connection) -> Revisions:
    found = MigrationContext.configure(connection).get_current_heads()
    scripts = ScriptDirectory.from_config(_config(connection))
    known = frozenset(revision.revision for revision in scripts.walk_revisions())
    return Revisions(tuple(found), tuple(scripts.get_heads()), known)


@contextmanager
def _locked(url: str) -> Iterator[Connection]:
    with _connected(url) as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK_KEY})
        yield connection


@contextmanager
def _connected(url: str) -> Iterator[Connection]:
    # A migration has no time limit.
    engine = store_engine(url, CONNECTION, silent_at_most_s=None, poolclass=NullPool)
    try:
        with engine.begin() as connection:
            yield connection
    except OperationalError as error:
        # The driver's own message holds the address.
        raise MetricsStoreDown() from error
    finally:
        engine.dispose()


def _config(connection: Connection) -> Config:
    config = Config()
    folder = str(Path(__file__).parent)
    config.set_main_option("script_location", folder.replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
