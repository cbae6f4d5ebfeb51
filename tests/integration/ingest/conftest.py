"""The ingest log on a real PostgreSQL, and tables on disk in a real catalog."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from uuid import uuid4

import pytest

from tests.contract.catalogs.conftest import Postgres
from tests.integration.ingest.lakehouse import IngestLakehouse


@pytest.fixture(scope="package")
def server() -> Iterator[Postgres]:
    # Not `tmp_path`: the server may run as another user, who has no access to pytest's directory.
    path = Path(tempfile.mkdtemp(prefix="sluice-ingest-"))
    postgres = Postgres(path / "postgres")
    yield postgres
    postgres.stop()
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def lakehouse(server: Postgres, tmp_path: Path) -> Iterator[IngestLakehouse]:
    log_url = server.url_of_migrated_database()
    with ExitStack() as stack:
        name = f"logs_{uuid4().hex}"
        yield IngestLakehouse(log_url, server.url_of_new_database(), f"file://{tmp_path}", name, stack)
