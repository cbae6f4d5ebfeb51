"""Commits to the dimension and to the fact go on during queries: no answer mixes snapshots of a table."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
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
from tests.integration.embedded_catalog import embedded_catalog

KEYS = 12
CHOSEN = 3
ROUNDS = 8
NEWEST = (
    "(SELECT max(version) FROM moving_dim) AS newest_version,"
    " (SELECT max(generation) FROM moving_fact) AS newest_generation"
)
BY_KEY = (
    "SELECT d.version, f.k, count(*) AS n, min(f.generation) AS first, max(f.generation) AS last,"
    f" {NEWEST} FROM moving_fact f JOIN moving_dim d ON f.k = d.k WHERE d.chosen = 1 GROUP BY d.version, f.k"
)
BY_GENERATION = (
    f"SELECT d.version, d.k, count(f.k) AS n, {NEWEST}"
    " FROM moving_dim d LEFT JOIN moving_fact f ON f.generation = d.version WHERE d.chosen = 1"
    " GROUP BY d.version, d.k"
)


@dataclass(frozen=True, slots=True, order=True)
class State:
    """The number of the last round written to each of the two tables."""

    version: int
    generation: int

    def has(self, other: State) -> bool:
        """Returns whether both tables have come at least as far as in the other state."""
        return self.version >= other.version and self.generation >= other.generation


class Writer:
    """In each round, the dimension chooses other keys, and the fact gets one row for every key.

    Rows have the number of their round. Rounds alternate in which table they write first.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._dimension = catalog.load_table(f"{SCHEMA}.moving_dim")
        self._fact = catalog.load_table(f"{SCHEMA}.moving_fact")
        self.begun = State(0, 0)
        self.committed = State(0, 0)

    def commit(self) -> None:
        steps = [self._commit_dimension, self._commit_fact]
        number = self.begun.version + 1
        for step in steps if number % 2 else reversed(steps):
            step(number)

    def _commit_dimension(self, number: int) -> None:
        self.begun = replace(self.begun, version=number)
        rows = dimension_rows(number)
        self._dimension.overwrite(pa.Table.from_pylist(rows, schema=self._dimension.schema().as_arrow()))
        self.committed = replace(self.committed, version=number)

    def _commit_fact(self, number: int) -> None:
        self.begun = replace(self.begun, generation=number)
        append(self._fact, fact_rows(number))
        self.committed = replace(self.committed, generation=number)


def dimension_rows(version: int) -> list[dict[str, Any]]:
    chosen = chosen_keys(version)
    return [{"k": key, "version": version, "chosen": int(key in chosen)} for key in range(KEYS)]


def fact_rows(generation: int) -> list[dict[str, Any]]:
    return [{"k": key, "generation": generation} for key in range(KEYS)]


def chosen_keys(version: int) -> set[int]:
    return {(version * CHOSEN + number) % KEYS for number in range(CHOSEN)}


@contextmanager
def committing(writer: Writer) -> Iterator[None]:
    """Runs a thread that commits until the block ends."""
    is_over = threading.Event()
    failures: list[BaseException] = []

    def work() -> None:
        try:
            while not is_over.is_set():
                writer.commit()
        except BaseException as failure:  # noqa: BLE001 - the test fails with it
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
    layout = Layout((("k", IdentityTransform()),), sorted_by="generation")
    append(created(lake, "moving_fact", {"k": integer, "generation": integer}, layout), fact_rows(0))
    with closing(embedded_catalog(data_dir)) as catalog:
        yield Writer(catalog)


def test_each_answer_is_of_one_state_of_each_table(harness: Harness, writer: Writer) -> None:
    """Snapshots are pinned table by table, in no promised order.

    So a dimension before a round may meet a fact after it, or the reverse. But each table is as it was at
    some time between the request and pinning. All references to it, and its keys in a filter, agree.
    """
    applied: Counter[str] = Counter()
    before = State(0, 0)
    with committing(writer):
        for _ in range(ROUNDS):
            for query, is_right in ((BY_KEY, is_right_by_key), (BY_GENERATION, is_right_by_generation)):
                at_least = writer.committed
                pruned = harness.prune(query)
                at_most = writer.begun
                rows = harness.run(pruned.sql, (), pruned).rows.to_pylist()
                [state] = {State(row["newest_version"], row["newest_generation"]) for row in rows}
                assert is_right(rows, state), (state, rows, pruned.sql)
                if pruned.rewritten_sql is not None:
                    assert at_most.has(state), pruned.sql
                assert writer.begun.has(state)
                assert state.has(at_least), pruned.sql
                assert state.has(before)
                before = state
                applied.update(
                    column
                    for filter_record in pruned.filters
                    if filter_record.is_applied
                    for column in filter_record.probe.columns
                )
    assert applied.keys() == {"k", "generation"}
    assert before != State(0, 0), "nothing was committed meanwhile"


def is_right_by_key(rows: Sequence[Mapping[str, Any]], state: State) -> bool:
    """Returns whether exactly the keys chosen by this version have a row of every generation."""
    whole = (state.version, state.generation + 1, 0, state.generation)
    return {row["k"] for row in rows} == chosen_keys(state.version) and all(
        (row["version"], row["n"], row["first"], row["last"]) == whole for row in rows
    )


def is_right_by_generation(rows: Sequence[Mapping[str, Any]], state: State) -> bool:
    """Returns whether the rows are those of the version's own generation, if the fact has it yet."""
    expected = KEYS if state.generation >= state.version else 0
    return {row["k"] for row in rows} == chosen_keys(state.version) and all(
        (row["version"], row["n"]) == (state.version, expected) for row in rows
    )
