"""Somebody commits to the dimension and to the fact all the while: each answer is one of a serial order."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType

from tests.equivalence.harness import Harness
from tests.equivalence.lakehouse import SCHEMA, Layout, append, created
from tests.integration.conftest import embedded_catalog

KEYS = 12
CHOSEN = 3
QUERIES = 20
QUERY = (
    "SELECT d.version, f.k, count(*) AS n FROM moving_fact f JOIN moving_dim d ON f.k = d.k"
    " WHERE d.chosen = 1 GROUP BY d.version, f.k"
)


class Writer:
    """Each version of the dimension chooses other keys; each commit to the fact has one row for every key."""

    def __init__(self, catalog: Catalog) -> None:
        self._dimension = catalog.load_table(f"{SCHEMA}.moving_dim")
        self._fact = catalog.load_table(f"{SCHEMA}.moving_fact")
        self.committed = 0
        self.begun = 0

    def commit(self) -> None:
        self.begun += 1
        rows = dimension_rows(self.begun)
        self._dimension.overwrite(pa.Table.from_pylist(rows, schema=self._dimension.schema().as_arrow()))
        self.committed = self.begun
        append(self._fact, [{"k": key} for key in range(KEYS)])


def dimension_rows(version: int) -> list[dict[str, Any]]:
    chosen = chosen_keys(version)
    return [{"k": key, "version": version, "chosen": int(key in chosen)} for key in range(KEYS)]


def chosen_keys(version: int) -> set[int]:
    return {(version * CHOSEN + each) % KEYS for each in range(CHOSEN)}


@contextmanager
def committing(writer: Writer) -> Iterator[None]:
    """A thread that commits until the block ends."""
    is_over = threading.Event()
    failures: list[BaseException] = []

    def work() -> None:
        try:
            while not is_over.is_set():
                writer.commit()
        except BaseException as failure:  # noqa: BLE001 - it is the test that fails by it
            failures.append(failure)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
    assert failures == []


@pytest.fixture
def writer(lake: SqlCatalog, data_dir: Path) -> Iterator[Writer]:
    integer = IntegerType()
    append(
        created(lake, "moving_dim", {"k": integer, "version": integer, "chosen": integer}, Layout()),
        dimension_rows(0),
    )
    fact = created(lake, "moving_fact", {"k": integer}, Layout((("k", IdentityTransform()),)))
    append(fact, [{"k": key} for key in range(KEYS)])
    with closing(embedded_catalog(data_dir)) as catalog:
        yield Writer(catalog)


def test_each_answer_is_of_one_version(harness: Harness, writer: Writer) -> None:
    applied = 0
    with committing(writer):
        for _ in range(QUERIES):
            at_least = writer.committed
            pruned = harness.prune(QUERY)
            rows = harness.run(pruned.sql, pruned=pruned).rows.to_pylist()
            [version] = {row["version"] for row in rows}
            assert at_least <= version <= writer.begun
            assert {row["k"] for row in rows} == chosen_keys(version), pruned.sql
            assert len({row["n"] for row in rows}) == 1, rows
            applied += any(each.is_applied for each in pruned.filters)
    assert applied > 0
