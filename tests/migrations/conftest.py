from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from service.adapters.embedded.embedded_postgres import EmbeddedPostgres


@pytest.fixture(scope="session")
def migrated_server() -> Iterator[EmbeddedPostgres]:
    # Not `tmp_path`: the server may run as another user, who has no access to pytest's directory.
    path = Path(tempfile.mkdtemp(prefix="sluice-servers-"))
    server = EmbeddedPostgres.start(path / "postgres")
    yield server
    server.stop()
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def empty_database(migrated_server: EmbeddedPostgres) -> str:
    url = migrated_server.url("sluice")
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return url
