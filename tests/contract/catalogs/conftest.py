"""The lakehouses that the contract is tested on: in memory, a real SQL catalog, and a real REST catalog."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import LiteralString
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.sql import Identifier

import migrations
from service.adapters.embedded.embedded_postgres import EmbeddedPostgres
from service.adapters.embedded.postgres_programs import PostgresPrograms
from tests.contract.catalogs.lakehouse import FakeLakehouse, Lakehouse, PyIcebergLakehouse
from tests.integration.rest_catalog.jars import rest_catalog_class_path
from tests.integration.rest_catalog.server import RestCatalogServer, rest_catalog_server

# Nobody else uses this database, so others can be made like it.
MIGRATED = "sluice"


class Postgres:
    """A PostgreSQL that can be stopped, and restarted on the same port."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._server = EmbeddedPostgres.start(directory)
        self._is_migrated = False
        # Tests kill the server, but not the machine. Without this, a killed server with a hundred databases
        # takes minutes to start again on a busy disk.
        self._run("ALTER SYSTEM SET fsync = off")
        self._run("SELECT pg_reload_conf()")

    def start(self) -> None:
        # Connections to the old port may still be closing. So `pg_ctl` starts the server on that port, and
        # `EmbeddedPostgres` attaches to it.
        data = self._directory / "data"
        settings = f"-c listen_addresses=127.0.0.1 -c unix_socket_directories= -p {self._server.port}"
        arguments = ("-D", str(data), "-l", str(self._directory / "log"), "-w", "-s", "-o", settings)
        PostgresPrograms.find(data).run("pg_ctl", *arguments, "start", work_directory=self._directory)
        self._server = EmbeddedPostgres.start(self._directory)

    def stop(self) -> None:
        self._server.stop()

    def url_of_new_database(self) -> str:
        database = f"lake_{uuid4().hex}"
        EmbeddedPostgres.start(self._directory, [database]).stop()
        return self._server.url(database)

    def url_of_migrated_database(self) -> str:
        """Returns the address of a new database with all tables of the service."""
        if not self._is_migrated:
            migrations.upgrade(self._server.url(MIGRATED))
            self._is_migrated = True
        database = f"lake_{uuid4().hex}"
        self._run(
            sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(database), Identifier(MIGRATED))
        )
        return self._server.url(database)

    def _run(self, statement: LiteralString | sql.Composed) -> None:
        address = self._server.url("postgres").replace("+psycopg", "")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(statement)


@pytest.fixture(scope="package")
def postgres() -> Iterator[Postgres]:
    # Not `tmp_path`: the server may run as another user, who has no access to pytest's directory.
    path = Path(tempfile.mkdtemp(prefix="sluice-catalogs-"))
    server = Postgres(path / "postgres")
    yield server
    server.stop()
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="package")
def rest_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestCatalogServer]:
    class_path = rest_catalog_class_path(tmp_path_factory.mktemp("jars"))
    with rest_catalog_server(class_path, tmp_path_factory.mktemp("rest")) as server:
        yield server


@pytest.fixture(
    params=[
        "fake",
        pytest.param("sql", marks=pytest.mark.integration),
        pytest.param("rest", marks=pytest.mark.integration),
    ]
)
def lakehouse(request: pytest.FixtureRequest) -> Lakehouse:
    if request.param == "fake":
        return FakeLakehouse()
    real: PyIcebergLakehouse = request.getfixturevalue(f"{request.param}_lakehouse")
    return real


@pytest.fixture
def sql_lakehouse(postgres: Postgres, tmp_path: Path) -> Iterator[PyIcebergLakehouse]:
    properties = {"type": "sql", "uri": postgres.url_of_new_database(), "warehouse": f"file://{tmp_path}"}
    lakehouse = PyIcebergLakehouse(properties, postgres.stop, postgres.start)
    yield lakehouse
    lakehouse.close()


@pytest.fixture
def rest_lakehouse(rest_server: RestCatalogServer) -> Iterator[PyIcebergLakehouse]:
    properties = {"type": "rest", "uri": rest_server.uri}
    lakehouse = PyIcebergLakehouse(properties, rest_server.stop, rest_server.start)
    yield lakehouse
    lakehouse.drop_everything()
    lakehouse.close()
