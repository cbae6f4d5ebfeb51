from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.integration.object_store.server import ObjectStore, object_store


@pytest.fixture(scope="package")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectStore]:
    with object_store(tmp_path_factory.mktemp("store") / "log") as running:
        yield running


@pytest.fixture
def bucket(store: ObjectStore) -> str:
    """A new bucket for one test."""
    return store.make_bucket(f"b-{uuid4().hex}")
