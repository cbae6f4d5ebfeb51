"""The storages that the contracts are tested on: in memory, on disk, and in an object store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.data_files.storages import DiskStorage, FakeStorage, ObjectStorage, Storage
from tests.integration.object_store.server import ObjectStore, object_store


@pytest.fixture(scope="package")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_store(tmp_path_factory.mktemp("store") / "log") as running:
        yield running


@pytest.fixture(params=["fake", "disk", pytest.param("object store", marks=pytest.mark.integration)])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    match request.param:
        case "fake":
            return FakeStorage()
        case "disk":
            return DiskStorage(tmp_path)
        case _:
            return ObjectStorage(request.getfixturevalue("store"))
