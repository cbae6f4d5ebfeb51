"""Which files a narrowed scan reads: those that a literal predicate selects, and no others at all."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import IdentityTransform

from service.model.filtering import FilterSource
from tests.equivalence.harness import Harness, rows_of
from tests.equivalence.lakehouse import FACT, SCHEMA, Layout, append, created, fact_rows

ONLY = "SELECT DISTINCT {column} FROM dim WHERE year = 1999 AND {column} IS NOT NULL"
JOINED = "SELECT f.id FROM {table} f JOIN dim d ON f.{column} = d.{column} WHERE d.year = 1999"


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("by_k", "k"),
        ("by_day", "day"),
        ("by_name", "name"),
        ("by_price", "price"),
        ("by_name_bucket", "name"),
        ("by_day_of_at", "at"),
        ("by_hour", "at_utc"),
        ("by_month", "day"),
        ("by_year", "at"),
        ("by_prefix", "name"),
        ("by_both", "k"),
        ("sorted_by_k", "k"),
        ("evolved", "k"),
        ("thinned", "k"),
    ],
)
def test_the_files_are_those_of_a_literal_predicate(table: str, column: str, harness: Harness) -> None:
    keys = harness.run(ONLY.format(column=column)).rows.column(0).to_pylist()
    literals = ", ".join(_literal(each) for each in keys)
    literal = harness.run(f"SELECT id FROM {table} WHERE {column} IN ({literals})")
    checked = harness.check(JOINED.format(table=table, column=column))
    expected = [each.metrics.data_files for each in literal.scans]
    assert [
        each.metrics.data_files for each in checked.narrowed.scans if each.table.endswith(table)
    ] == expected


def test_files_that_must_be_pruned_are_not_opened(harness: Harness, lake: SqlCatalog) -> None:
    table = created(lake, "partly_gone", FACT, Layout((("k", IdentityTransform()),)))
    append(table, fact_rows(5))
    query = JOINED.format(table="partly_gone", column="k")
    # Without a join, Spark's own pruning has no part in it.
    semi = "SELECT id FROM partly_gone f LEFT SEMI JOIN dim d ON f.k = d.k AND d.year = 1999"
    before = rows_of(harness.run(query).rows)
    kept = set(harness.run(ONLY.format(column="k")).rows.column(0).to_pylist())
    for file in table.inspect.files().to_pylist():
        if file["partition"]["k_part"] not in kept:
            Path(urlparse(file["file_path"]).path).unlink()
    pruned = harness.prune(query)
    assert rows_of(harness.run(pruned.sql, pruned=pruned).rows) == before
    narrowed = harness.prune(semi)
    assert harness.run(narrowed.sql, pruned=narrowed).rows.num_rows > 0


def test_keys_are_collected_once_and_then_cached(harness: Harness) -> None:
    query = f"SELECT f.id FROM {SCHEMA}.by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999 AND d.k <> 76"
    sources = [[each.source for each in harness.prune(query).filters if each.is_applied] for _ in range(2)]
    assert sources == [[FilterSource.COLLECTED], [FilterSource.CACHED]]


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
    if isinstance(value, Decimal):
        return f"{value}BD"
    return str(value) if isinstance(value, int) else f"'{value}'"
