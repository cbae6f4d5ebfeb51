"""A filtered scan reads exactly the files that a literal predicate selects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlparse

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import In
from pyiceberg.table import Table

from service.errors.query_errors import QueryFailed
from service.model.filters.key_set import FilterSource
from tests.equivalence.harness import Harness, rows_of
from tests.equivalence.lakehouse import (
    FACT,
    LAYOUTS,
    SCHEMA,
    append,
    created,
    fact_rows,
    make_evolved,
    parts,
)

ONLY = "SELECT DISTINCT {key} FROM dim WHERE {asked} AND {key} IS NOT NULL"
JOINED = "SELECT f.id FROM {table} f JOIN dim d ON f.{column} = d.{key} WHERE d.{asked}"
SEMI = "SELECT id FROM {table} f LEFT SEMI JOIN dim d ON f.{column} = d.{key} AND d.{asked}"


@dataclass(frozen=True, slots=True)
class Star:
    """A fact that is filtered by a column of the dimension, which has the same name unless `key` names it."""

    table: str
    column: str
    key: str = ""
    asked: str = "year = 1999"

    def said(self, text: str, table: str | None = None) -> str:
        return text.format(
            table=table or self.table, column=self.column, key=self.key or self.column, asked=self.asked
        )

    def keys(self, harness: Harness) -> list[Any]:
        found: list[Any] = harness.run(self.said(ONLY)).rows.column(0).to_pylist()
        return found


# The layouts are one identity, bucket, truncate, hour, day, month or year, two fields, a sort order, and
# several specs.
STARS = (
    Star("by_k", "k"),
    Star("by_day", "day"),
    Star("by_name", "name"),
    Star("by_price", "price"),
    Star("by_paid", "is_paid", asked="k = 2"),
    Star("by_bucket", "b", "big_k"),
    Star("by_name_bucket", "name"),
    Star("by_day_of_at", "at"),
    Star("by_hour", "at_utc"),
    Star("by_month", "day", asked="k = 0"),
    Star("by_year", "at", asked="k = 0"),
    Star("by_prefix", "name"),
    Star("by_tens", "b", "big_k"),
    Star("by_both", "k"),
    Star("by_both", "b", "big_k"),
    Star("by_pair", "b", "big_k"),
    Star("sorted_by_k", "k"),
    Star("evolved", "k"),
    Star("evolved", "b", "big_k"),
    Star("evolved", "at"),
    Star("thinned", "k"),
    Star("vectored", "k"),
)
WHOLE = [star for star in STARS if star.table not in {"thinned", "vectored"}]
TWO_DIMENSIONS = (
    "SELECT f.id FROM {table} f JOIN dim d ON f.{column} = d.{key} JOIN dim e ON f.{column} = e.{key}"
    " WHERE d.{asked} AND e.{other}",
    "SELECT f.id FROM {table} f JOIN dim d ON f.{column} = d.{key}"
    " WHERE d.{asked} AND f.{column} IN (SELECT {key} FROM dim WHERE {other})",
    "SELECT f.id FROM {table} f LEFT SEMI JOIN dim d ON f.{column} = d.{key} AND d.{asked}"
    " LEFT SEMI JOIN dim e ON f.{column} = e.{key} AND e.{other}",
)
OTHERS = ("year = 1998", "k < 6", "k IN (0, 1, 2, 9)")


@pytest.mark.parametrize("star", STARS, ids=lambda star: f"{star.table}.{star.column}")
def test_the_files_are_those_of_a_literal_predicate(star: Star, harness: Harness) -> None:
    literals = ", ".join(_literal(key) for key in star.keys(harness))
    literal = harness.run(f"SELECT id FROM {star.table} WHERE {star.column} IN ({literals})")
    checked = harness.check(star.said(JOINED))
    expected = [scan.metrics.data_files for scan in literal.scans]
    assert [
        scan.metrics.data_files for scan in checked.filtered.scans if scan.table.endswith(star.table)
    ] == expected
    assert 0 < expected[0].selected < expected[0].total


@pytest.mark.parametrize("text", TWO_DIMENSIONS, ids=("joined", "in a subquery", "semi-joined"))
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("star", STARS[::2], ids=lambda star: f"{star.table}.{star.column}")
def test_two_dimensions_leave_the_files_of_their_common_keys(
    star: Star, other: str, text: str, harness: Harness
) -> None:
    names = {"column": star.column, "key": star.key or star.column, "other": other}
    checked = harness.check(text.format(table=star.table, asked=star.asked, **names))
    common = set(star.keys(harness)) & set(replace(star, asked=other).keys(harness))
    literals = ", ".join(_literal(key) for key in common)
    condition = f"{star.column} IN ({literals})" if common else "FALSE"
    literal = harness.run(f"SELECT id FROM {star.table} WHERE {condition}")
    expected = sum(scan.metrics.data_files.selected for scan in literal.scans)
    assert checked.files(star.table).selected == expected


@pytest.mark.parametrize(
    "star",
    WHOLE,
    ids=lambda star: f"{star.table}.{star.column}",
)
def test_files_that_must_be_pruned_are_not_opened(star: Star, harness: Harness, lake: SqlCatalog) -> None:
    table = _copy(star, lake)
    name = table.name()[-1]
    query = star.said(JOINED, name)
    # In a semi-join, Spark's own pruning has no part.
    semi = star.said(SEMI, name)
    before = [rows_of(harness.run(sql).rows) for sql in (query, semi)]
    # PyIceberg's own planning says which files may hold a key.
    wanted = cast(Any, In)(star.column, {_for_pyiceberg(key) for key in star.keys(harness)})
    planned = {file.file.file_path for file in table.scan(row_filter=wanted).plan_files()}
    gone = [value for value in table.inspect.files()["file_path"].to_pylist() if value not in planned]
    assert planned
    assert gone
    for path in gone:
        Path(urlparse(path).path).unlink()
    filtered = [harness.prune(text) for text in (query, semi)]
    assert [
        rows_of(harness.run(pruned_query.sql, (), pruned_query).rows) for pruned_query in filtered
    ] == before
    assert all(before)
    with pytest.raises(QueryFailed):
        harness.run(f"SELECT * FROM {name}")


def _copy(star: Star, lake: SqlCatalog) -> Table:
    """Creates a table of the same layout whose files can be deleted, without NULL in a partition.

    PyIceberg cannot plan over such partitions.
    """
    name = f"partly_gone_{star.table}_{star.column}"
    rows = [row for row in fact_rows(5) if row["k"] is not None]
    if star.table == "evolved":
        return make_evolved(lake, name, rows)
    layout = LAYOUTS[star.table]
    table = created(lake, name, FACT, layout)
    for part in parts(rows, layout.sorted_by):
        append(table, part)
    return table


def _for_pyiceberg(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def test_keys_are_collected_once_and_then_cached(harness: Harness) -> None:
    query = f"SELECT f.id FROM {SCHEMA}.by_k f JOIN dim d ON f.k = d.k WHERE d.year = 1999 AND d.k <> 76"
    sources = [
        [filter_.source for filter_ in harness.prune(query).filters if filter_.is_applied] for _ in range(2)
    ]
    assert sources == [[FilterSource.COLLECTED], [FilterSource.CACHED]]


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
    if isinstance(value, Decimal):
        return f"{value}BD"
    return str(value) if isinstance(value, int) else f"'{value}'"
