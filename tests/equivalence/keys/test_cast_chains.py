"""Casts of casts on either side of a join or in derived tables select the same files as no casts."""

from __future__ import annotations

import pytest

from tests.equivalence.harness import Harness

# Lossless casts, by `table.column=dimension column`, where the table is laid out by its column.
CHAINS = {
    "by_k.k=k": (
        "CAST({} AS BIGINT)",
        "CAST(CAST({} AS BIGINT) AS INT)",
        "CAST(CAST({} AS DECIMAL(20, 4)) AS BIGINT)",
        "CAST(CAST(CAST({} AS BIGINT) AS STRING) AS INT)",
    ),
    "by_tens.b=big_k": ("CAST({} AS BIGINT)", "CAST(CAST({} AS DECIMAL(38, 0)) AS BIGINT)"),
    "by_day.day=day": (
        "CAST(CAST({} AS STRING) AS DATE)",
        "CAST(CAST({} AS TIMESTAMP_NTZ) AS DATE)",
        "CAST(CAST({} AS TIMESTAMP) AS DATE)",
    ),
    "by_price.price=wide_price": (
        "CAST({} AS DECIMAL(9, 2))",
        "CAST(CAST({} AS DECIMAL(12, 4)) AS DECIMAL(20, 4))",
    ),
}
WAYS = {
    "beside the join": "SELECT f.id FROM {table} f JOIN dim d ON {probe} = {build} WHERE d.year = 1999",
    "in derived tables": (
        "SELECT f.id FROM (SELECT id, {probe_column} AS x FROM {table}) f"
        " JOIN (SELECT {build_column} AS y, year FROM dim) d ON f.x = d.y WHERE d.year = 1999"
    ),
    "in common table expressions of each other": (
        "WITH one AS (SELECT id, {probe_column} AS x FROM {table}), two AS (SELECT id, x AS z FROM one),"
        " keys AS (SELECT {build_column} AS y FROM dim WHERE year = 1999)"
        " SELECT id FROM two WHERE z IN (SELECT y FROM keys)"
    ),
}

# Each value has only one spelling as text, and each day one first moment.
SPELLED = {
    "a number as text": ("by_k", "CAST({}.k AS STRING)", "k"),
    "a wider number as text": ("by_tens", "CAST({}.b AS STRING)", "big_k"),
    "a day as text": ("by_day", "CAST({}.day AS STRING)", "day"),
    "a day as a moment": ("by_day", "CAST({}.day AS TIMESTAMP_NTZ)", "at"),
    "a day as a moment of a zone": ("by_day", "CAST({}.day AS TIMESTAMP)", "at_utc"),
}

SAME_ROWS = {
    "a narrower number": (
        "SELECT f.id FROM by_tens f JOIN dim d ON CAST(f.b AS INT) = d.k WHERE d.year = 1999"
    ),
    "rounded on the way": (
        "SELECT f.id FROM by_price f JOIN dim d ON CAST(CAST(f.price AS DECIMAL(9, 1)) AS DECIMAL(9, 2))"
        " = d.price WHERE d.year = 1999"
    ),
    "text of decimals": (
        "SELECT f.id FROM by_price f JOIN dim d ON CAST(f.price AS STRING) = CAST(d.price AS STRING)"
        " WHERE d.year = 1999"
    ),
    "text with zeros in front": (
        "SELECT f.id FROM by_k f JOIN dim d ON CAST(f.k AS STRING) = d.text_k WHERE d.year = 1999"
    ),
    "text of no number at all": (
        "SELECT f.id FROM by_k f JOIN dim d ON CAST(f.k AS STRING) = d.name WHERE d.year = 1999"
    ),
    "<=> of text": (
        "SELECT f.id FROM by_k f JOIN dim d ON CAST(f.k AS STRING) <=>"
        " CAST(d.k AS STRING) WHERE d.year = 2000"
    ),
    "text of a union": (
        "SELECT u.id FROM (SELECT id, CAST(k AS STRING) AS x FROM by_k UNION"
        " ALL SELECT id, name FROM by_name) u"
        " JOIN dim d ON u.x = d.text_k WHERE d.year = 1999"
    ),
    "groups by a cast": (
        "SELECT g.n FROM (SELECT CAST(k AS STRING) AS x, count(*) AS n FROM"
        " by_k GROUP BY CAST(k AS STRING)) g"
        " JOIN dim d ON g.x = d.text_k WHERE d.year = 1999"
    ),
    "groups by the day of a moment": (
        "SELECT g.n FROM (SELECT CAST(at AS DATE) AS x, count(*) AS n FROM"
        " by_day_of_at GROUP BY CAST(at AS DATE))"
        " g JOIN dim d ON g.x = d.day WHERE d.year = 1999"
    ),
    "groups by another": (
        "SELECT g.n FROM (SELECT CAST(min(k) AS STRING) AS x, count(*) AS n FROM by_k GROUP BY b) g"
        " JOIN dim d ON g.x = d.text_k WHERE d.year = 1999"
    ),
    "a window over another": (
        "SELECT g.n FROM (SELECT CAST(k AS STRING) AS x, count(*) OVER (PARTITION BY b) AS n FROM by_k) g"
        " JOIN dim d ON g.x = d.text_k WHERE d.year = 1999"
    ),
    "a day of a moment as text": (
        "SELECT f.id FROM by_day_of_at f JOIN dim d ON CAST(CAST(f.at AS DATE) AS STRING)"
        " = CAST(d.day AS STRING) WHERE d.year = 1999"
    ),
    "by way of a byte": (
        "SELECT f.id FROM by_tens f JOIN dim d ON CAST(CAST(f.b AS TINYINT) AS INT) = d.k WHERE d.year = 1999"
    ),
    "by way of floating point": (
        "SELECT f.id FROM by_tens f JOIN dim d ON CAST(CAST(f.b AS DOUBLE) AS BIGINT) = d.big_k"
        " WHERE d.year = 1999"
    ),
    "without what follows the point": (
        "SELECT f.id FROM by_price f JOIN dim d ON CAST(f.price AS INT) = d.k WHERE d.year = 1999"
    ),
    "text of a length": (
        "SELECT f.id FROM by_k f JOIN dim d ON CAST(f.k AS VARCHAR(1)) = CAST(d.k AS CHAR(2))"
        " WHERE d.year = 1999"
    ),
    "numbers of a truth": (
        "SELECT f.id FROM by_k f JOIN dim d ON CAST(CAST(f.k AS BOOLEAN) AS INT) = d.k WHERE d.year = 1999"
    ),
    "tried": (
        "SELECT f.id FROM by_k f JOIN dim d ON TRY_CAST(TRY_CAST(f.k AS STRING) AS INT) ="
        " TRY_CAST(d.text_k AS INT) WHERE d.year = 1999"
    ),
    "moments of a day in two ways": (
        "SELECT f.id FROM by_day f JOIN dim d ON CAST(CAST(f.day AS TIMESTAMP) AS TIMESTAMP_NTZ) = d.at"
        " WHERE d.year = 1999"
    ),
    "a sum, then a product": (
        "SELECT f.id FROM by_k f JOIN (SELECT k - 3 AS y, year FROM dim) d ON"
        " f.k = d.y * 2 WHERE d.year = 1999"
    ),
    "a difference, then a difference": (
        "SELECT f.id FROM by_k f JOIN (SELECT k - 1 AS y, year FROM dim) d ON"
        " f.k = 12 - d.y WHERE d.year = 1999"
    ),
    "computed once and again": (
        "SELECT f.id FROM by_k f JOIN (SELECT k + 1 AS y, year FROM dim) d ON"
        " f.k = d.y + 1 WHERE d.year = 1999"
    ),
    "computed, and chosen by HAVING": (
        "SELECT f.id FROM by_k f JOIN (SELECT k + 1 AS y FROM dim GROUP BY k"
        " HAVING count(*) > 1) d ON f.k = d.y"
    ),
    "the side that gives keys is filled with NULLs": (
        "SELECT f.id FROM by_k f JOIN (SELECT CAST(t.k AS BIGINT) AS y FROM"
        " dim d LEFT JOIN tiny t ON d.k = t.k"
        " WHERE d.year = 1999) x ON f.k <=> x.y"
    ),
}


def files_of(harness: Harness, table: str, column: str, key: str) -> int:
    """Returns the number of files that have one of the keys."""
    plain = harness.check(
        f"SELECT f.id FROM {table} f JOIN dim d ON f.{column} = d.{key} WHERE d.year = 1999"
    )
    assert plain.files(table).selected < plain.files(table).total
    return plain.files(table).selected


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("columns", CHAINS)
def test_casts_that_lose_nothing_are_seen_through(columns: str, way: str, harness: Harness) -> None:
    table, rest = columns.split(".")
    column, key = rest.split("=")
    expected = files_of(harness, table, column, key)
    for probe, build in zip(CHAINS[columns], reversed(CHAINS[columns]), strict=True):
        sql = WAYS[way].format(
            table=table,
            probe=probe.format(f"f.{column}"),
            build=build.format(f"d.{key}"),
            probe_column=probe.format(column),
            build_column=build.format(key),
        )
        checked = harness.check(sql)
        assert f"{table}.{column}" in checked.applied, (sql, checked.pruned.filters)
        assert checked.files(table).selected == expected


@pytest.mark.parametrize("spelling", SPELLED)
def test_values_are_reported_by_their_spelling(spelling: str, harness: Harness) -> None:
    table, cast, key = SPELLED[spelling]
    column = cast.split(".")[1].split()[0]
    sql = f"SELECT f.id FROM {table} f JOIN dim d ON {cast.format('f')} = {{}} WHERE d.year = 1999"
    own = f"CAST(d.{key} AS STRING)" if "STRING" in cast else f"d.{key}"
    checked = harness.check(sql.format(own))
    assert f"{table}.{column}" in checked.applied, checked.pruned.filters
    assert checked.files(table).selected < checked.files(table).total


@pytest.mark.parametrize("sql", SAME_ROWS.values(), ids=SAME_ROWS)
def test_rows_are_the_same(sql: str, harness: Harness) -> None:
    harness.check(sql)
