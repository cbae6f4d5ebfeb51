"""Keys that are carried over commits to the dimension give the rows of a query without filters."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import IntegerType, StringType

from service.model.filters.key_set import FilterSource
from tests.equivalence.harness import Harness
from tests.equivalence.lakehouse import SCHEMA, Layout, append, created
from tests.integration.embedded_catalog import embedded_catalog
from tests.thorough import IS_THOROUGH

KEYS = 40
ROUNDS = 60 if IS_THOROUGH else 12
QUERIES = (
    "SELECT f.k, count(*) AS n FROM carried_fact f JOIN carried_dim d ON f.k = d.k WHERE d.year = 2000"
    " GROUP BY f.k",
    "SELECT count(*) AS n FROM carried_fact f"
    " WHERE f.k IN (SELECT k FROM carried_dim WHERE name = 'b' AND year > 1999)",
    "SELECT d.name, sum(f.v) AS v FROM carried_fact f JOIN carried_dim d ON f.k <=> d.k"
    " WHERE d.name LIKE 'a%' GROUP BY d.name",
)


@pytest.fixture
def dimension(lake: SqlCatalog, data_dir: Path) -> Iterator[Table]:
    integer = IntegerType()
    append(
        created(lake, "carried_dim", {"k": integer, "year": integer, "name": StringType()}, Layout()),
        [_row(key, 2000, "a") for key in range(3)],
    )
    fact = created(lake, "carried_fact", {"k": integer, "v": integer}, Layout((("k", IdentityTransform()),)))
    append(fact, [{"k": key, "v": 1} for key in (*range(KEYS), None)])
    with closing(embedded_catalog(data_dir)) as catalog:
        yield catalog.load_table(f"{SCHEMA}.carried_dim")


def _row(key: int | None, year: int, name: str) -> dict[str, Any]:
    return {"k": key, "year": year, "name": name}


@pytest.mark.filterwarnings("ignore:Delete operation did not match any records")
def test_keys_are_carried_over_commits_of_all_kinds(harness: Harness, dimension: Table) -> None:
    chosen = random.Random(20)
    sources: Counter[FilterSource] = Counter()
    for _ in range(ROUNDS):
        for _ in range(chosen.randint(1, 2)):
            _commit(dimension.refresh(), chosen)
        for query in QUERIES:
            checked = harness.check(query)
            sources.update(found.source for found in checked.pruned.filters if found.is_applied)
    assert sources[FilterSource.CARRIED_OVER] > ROUNDS
    assert sources[FilterSource.COLLECTED] > 0


def _commit(dimension: Table, chosen: random.Random) -> None:
    key, year = chosen.choice((None, *range(KEYS))), chosen.randint(1998, 2002)
    match chosen.randint(0, 7):
        case 0:
            dimension.delete(f"year = {year}")
        case 1:
            rows = dimension.scan(row_filter=f"year = {year}").to_arrow()
            dimension.overwrite(rows, f"year = {year}")
        case _:
            append(dimension, [_row(key, year, chosen.choice(("a", "ab", "b", "c")))])
