"""A restored log beside newer tables: which ingests are repeated or lost, and how that is reported."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

import migrations
from api.bootstrap.settings import Settings
from api.cli.commands.doctor import examine
from api.cli.part_checks import Finding, State
from api.cli.wiring_doctor import system_clock
from service.adapters.embedded.embedded_postgres import EmbeddedPostgres
from service.adapters.embedded.postgres_programs import PostgresPrograms
from service.model.ingest.ingest import IngestState
from tests.integration.ingest.lakehouse import IngestLakehouse
from tests.unit.api.cli.test_doctor import of_part

pytestmark = pytest.mark.integration

PAGE = Path(__file__).parents[2] / "docs" / "operations" / "backup.md"


@dataclass(frozen=True)
class Place:
    """A server with databases, a folder for dumps, and a table."""

    server: EmbeddedPostgres
    folder: Path
    log_name: str
    lakehouse: IngestLakehouse

    def dump(self, database: str) -> Path:
        """Dumps the database as it is now, and returns the file."""
        path = self.folder / f"{database}-{uuid4().hex}.dump"
        self.run("pg_dump", "--format=custom", f"--file={path}", f"--dbname={self.address(database)}")
        return path

    def restored(self, dump: Path) -> str:
        """Restores the dump into a new database, and returns its name."""
        name = f"restored_{uuid4().hex[:8]}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        self.run("pg_restore", "--exit-on-error", "--no-owner", f"--dbname={self.address(name)}", str(dump))
        return name

    def address(self, database: str) -> str:
        return self.server.url(database).replace("+psycopg", "")

    def run(self, program: str, *arguments: str) -> None:
        path = PostgresPrograms.find(self.folder).directory / program
        subprocess.run([str(path), *arguments], check=True, capture_output=True, timeout=60)

    def beside(self, log_name: str, stack: ExitStack) -> IngestLakehouse:
        """Opens the table for gateways with another log."""
        properties, key = self.lakehouse.properties, self.lakehouse.key
        return IngestLakehouse(
            self.server.url(log_name), properties["uri"], properties["warehouse"], key.table.table, stack
        )

    def doctor(self, log_name: str) -> Finding:
        """Returns the finding of `sluice doctor` about the log."""
        settings = Settings.model_validate(
            {
                "port": 0,
                "data_dir": self.folder / "data",
                "metrics_store_url": self.server.url(log_name),
                "catalogs": {"lake": self.lakehouse.properties},
            }
        )
        return of_part(examine(lambda: settings, system_clock(), has_engine=False), "ingest log")

    def execute(self, log_name: str, statement: str) -> None:
        with psycopg.connect(self.address(log_name), autocommit=True) as connection:
            connection.execute(statement.encode())


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[EmbeddedPostgres, Path]]:
    # Not `tmp_path`: PostgreSQL may run as another user, who has no access to pytest's folder.
    path = Path(tempfile.mkdtemp(prefix="sluice-restore-"))
    running = EmbeddedPostgres.start(path / "postgres", ("lake",))
    yield running, path
    running.stop()
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def place(server: tuple[EmbeddedPostgres, Path]) -> Iterator[Place]:
    running, path = server
    log_name = f"log_{uuid4().hex[:8]}"
    with psycopg.connect(running.url("postgres").replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {log_name}".encode())
    migrations.upgrade(running.url(log_name))
    with ExitStack() as stack:
        warehouse = path / log_name
        warehouse.mkdir()
        lakehouse = IngestLakehouse(
            running.url(log_name), running.url("lake"), warehouse.as_uri(), f"t_{log_name}", stack
        )
        yield Place(running, warehouse, log_name, lakehouse)


def test_a_log_and_tables_of_one_moment_agree(place: Place) -> None:
    lakehouse = place.lakehouse
    lakehouse.commit_all(lakehouse.accept([1]), lakehouse.accept([2]))
    waiting = lakehouse.accept([3])
    restored = place.restored(place.dump(place.log_name))
    found = place.doctor(restored)
    assert (found.state, found.text) == (
        State.OK,
        "agrees with the 1 tables and branches that were committed to last",
    )
    with ExitStack() as stack:
        again = place.beside(restored, stack)
        again.commit_all(waiting)
        assert again.ids() == [1, 2, 3]
    assert place.doctor(restored).state is State.OK


def test_what_waited_at_the_dump_and_was_committed_since_comes_twice_unless_it_is_set_aside(
    place: Place,
) -> None:
    lakehouse = place.lakehouse
    lakehouse.commit_all(lakehouse.accept([1]))
    waiting = lakehouse.accept([2])
    dump = place.dump(place.log_name)
    late = lakehouse.accept([3])
    lakehouse.commit_all(waiting, late)
    assert lakehouse.ids() == [1, 2, 3]
    as_it_is, repaired = place.restored(dump), place.restored(dump)

    found = place.doctor(repaired)
    assert found.state is State.FAILED
    assert str(lakehouse.key.table) in found.text
    assert "After a restore" in found.cure

    place.execute(repaired, cure(place))
    assert place.doctor(repaired).state is State.WARNING
    with ExitStack() as stack:
        again = place.beside(repaired, stack)
        # Callers that wait for it get the failure, and the table is unchanged.
        assert again.states([waiting]) == {IngestState.FAILED}
        assert again.log.waiting().ingest_count == 0
        # It was accepted after the dump, so the log has lost it, and its requestId.
        assert again.log.find(late.ingest_id) is None
        assert again.ids() == [1, 2, 3]

    with ExitStack() as stack:
        again = place.beside(as_it_is, stack)
        again.commit_all(waiting)
        assert again.ids() == [1, 2, 2, 3]


def test_a_round_that_had_begun_at_the_dump_does_not_come_twice(place: Place) -> None:
    lakehouse = place.lakehouse
    begun = lakehouse.accept([1])
    with lakehouse.log.round(lakehouse.key, 100) as pending:
        assert pending is not None
        dump = place.dump(place.log_name)
    lakehouse.commit_all(begun)
    restored = place.restored(dump)
    assert place.doctor(restored).state is State.OK
    with ExitStack() as stack:
        again = place.beside(restored, stack)
        again.commit_all(begun)
        assert again.ids() == [1]


def test_a_table_that_was_put_back_lacks_what_the_log_has(place: Place) -> None:
    lakehouse = place.lakehouse
    lakehouse.commit_all(lakehouse.accept([1]))
    properties = dict(lakehouse.table().properties)
    lakehouse.commit_all(lakehouse.accept([2]))
    assert place.doctor(place.log_name).state is State.OK
    with lakehouse.table().transaction() as transaction:
        # The properties are set back, as in an older catalog.
        transaction.set_properties({name: properties[name] for name in properties if "last-commit" in name})
    found = place.doctor(place.log_name)
    assert found.state is State.FAILED
    assert "lacks rounds" in found.text


def cure(place: Place) -> str:
    """Returns the documented statement, for this table."""
    statement = PAGE.read_text().partition("```sql\n")[2].partition("```")[0]
    for name, value in {"logs": "game", "events": place.lakehouse.key.table.table}.items():
        assert f"'{name}'" in statement
        statement = statement.replace(f"'{name}'", f"'{value}'")
    return statement
