from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    # Not `tmp_path`: PostgreSQL and nginx may run as another user, who has no access to pytest's folder.
    path = Path(tempfile.mkdtemp(prefix="sluice-rolling-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)
