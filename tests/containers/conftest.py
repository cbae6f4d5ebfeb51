"""These tests need root, podman and a built image, so `make test` leaves them out."""

from __future__ import annotations

import os

import pytest

from tests.containers.podman import Podman

ASKED = os.environ.get("SLUICE_TEST_CONTAINERS", "")
collect_ignore = [name for name in ("test_image.py", "test_compose.py") if name != f"test_{ASKED}.py"]


@pytest.fixture(scope="session")
def podman(tmp_path_factory: pytest.TempPathFactory) -> Podman:
    return Podman.on_this_machine(tmp_path_factory.mktemp("podman"))
