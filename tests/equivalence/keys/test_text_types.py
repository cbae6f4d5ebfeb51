"""Padded, bounded or case-insensitive text gives no keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog

from service.gateway import Gateway
from service.model.filters.filter_record import Reason
from spark_session.engine.engine import SparkEngine
from tests.equivalence.harness import Harness

FILES = "spark_catalog.files"
# The join would lose these rows if text were compared byte by byte.
CAPITALS = "(SELECT k, upper(name) AS name, year FROM dim) d"

REFUSED = {
    "CHAR and text": (
        f"SELECT f.id FROM {FILES}.by_char f JOIN dim d ON f.c = d.name WHERE d.year = 1999",
        # Spark pads the text in a separate plan step, and our pruning does not look below that.
        Reason.SOURCE_NOT_SUPPORTED,
    ),
    "CHAR and text that is filled up": (
        f"SELECT f.id FROM {FILES}.by_char f JOIN (SELECT rpad(name, 6, ' ') AS name FROM dim"
        " WHERE year = 1999) d ON f.c = d.name",
        None,
    ),
    "CHAR and CHAR": (
        f"SELECT f.id FROM {FILES}.by_char f JOIN {FILES}.chars d ON f.c = d.c WHERE d.year = 1999",
        None,
    ),
    "CHAR and a shorter CHAR": (
        f"SELECT f.id FROM {FILES}.by_char f JOIN {FILES}.chars d ON f.c = d.short WHERE d.year = 1999",
        None,
    ),
    "VARCHAR and text": (
        f"SELECT f.id FROM {FILES}.by_varchar f JOIN dim d ON f.v = d.name WHERE d.year = 1999",
        Reason.TYPE_NOT_CONVERTIBLE,
    ),
    "text and CHAR": (
        f"SELECT f.id FROM by_name f JOIN {FILES}.chars d ON f.name = d.c WHERE d.year = 1999",
        None,
    ),
    "text and VARCHAR": (
        f"SELECT f.id FROM by_name f JOIN {FILES}.texts d ON f.name = d.v WHERE d.year = 1999",
        Reason.TYPE_NOT_CONVERTIBLE,
    ),
    "text and text without its case": (
        f"SELECT f.id FROM by_name f JOIN {FILES}.texts d ON f.name COLLATE UTF8_LCASE = d.t"
        " WHERE d.year = 1999",
        None,
    ),
    "the fact's text by a collation": (
        "SELECT f.id FROM by_name f JOIN dim d ON f.name COLLATE UTF8_LCASE = d.name WHERE d.year = 1999",
        Reason.KEY_IS_COMPUTED,
    ),
    "with the same text in capitals": (
        f"SELECT f.id FROM by_name f JOIN {CAPITALS} ON f.name COLLATE UTF8_LCASE = d.name"
        " WHERE d.year = 1999",
        None,
    ),
    "the dimension's": (
        "SELECT f.id FROM by_name f JOIN dim d ON f.name = upper(d.name) COLLATE UNICODE_CI"
        " WHERE d.year = 1999",
        Reason.KEY_IS_COMPUTED,
    ),
    "by a function": (
        f"SELECT f.id FROM by_name f JOIN {CAPITALS} ON collate(f.name, 'UTF8_LCASE') = d.name"
        " WHERE d.year = 1999",
        None,
    ),
    "by a cast of both": (
        f"SELECT f.id FROM by_name f JOIN {CAPITALS} ON CAST(f.name AS STRING COLLATE UTF8_LCASE)"
        " = CAST(d.name AS STRING COLLATE UTF8_LCASE) WHERE d.year = 1999",
        None,
    ),
    "in derived tables": (
        "SELECT f.id FROM (SELECT id, CAST(name AS STRING COLLATE UTF8_LCASE) AS name FROM by_name) f"
        " JOIN (SELECT CAST(upper(name) AS STRING COLLATE UTF8_LCASE) AS name FROM dim WHERE year = 1999) d"
        " ON f.name = d.name",
        None,
    ),
    "IN a subquery": (
        "SELECT id FROM by_name WHERE name COLLATE UTF8_LCASE IN (SELECT upper(name) FROM dim"
        " WHERE year = 1999)",
        None,
    ),
}

SAME_ROWS = {
    "a condition without its case": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE d.name COLLATE UTF8_LCASE = 'ADA'"
    ),
    "one by a cast": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k"
        " WHERE CAST(d.name AS STRING COLLATE UTF8_LCASE) = 'ADA' AND d.year > 1000"
    ),
    "one on a column without its case": (
        f"SELECT f.id FROM by_k f JOIN {FILES}.texts d ON f.k = d.k WHERE d.t = 'ADA'"
    ),
    "one on CHAR": f"SELECT f.id FROM by_k f JOIN {FILES}.chars d ON f.k = d.k WHERE d.c = 'Ada'",
    "one on CHAR with blanks": (
        f"SELECT f.id FROM by_k f JOIN {FILES}.chars d ON f.k = d.k WHERE d.c IN ('Ada   ', 'Bo', 'Cy ')"
    ),
    "one on the length of CHAR": (
        f"SELECT f.id FROM by_k f JOIN {FILES}.chars d ON f.k = d.k WHERE length(d.c) = 6 AND d.year = 1999"
    ),
    "a cast to CHAR on the fact": (
        "SELECT f.id FROM by_name f JOIN dim d ON CAST(f.name AS CHAR(2)) = d.name WHERE d.year = 1999"
    ),
    "a cast to VARCHAR on the dimension": (
        "SELECT f.id FROM by_name f JOIN dim d ON f.name = CAST(d.name AS VARCHAR(2)) WHERE d.year = 1999"
    ),
    "a cast to VARCHAR in a condition": (
        "SELECT f.id FROM by_k f JOIN dim d ON f.k = d.k WHERE CAST(d.name AS VARCHAR(2)) = 'Ad'"
    ),
}


@pytest.fixture(scope="module", autouse=True)
def _tables(gateway: Gateway, lake: SqlCatalog, data_dir: Path) -> None:  # noqa: ARG001
    engine = gateway.queries.ports.engine
    assert isinstance(engine, SparkEngine)
    assert engine.session is not None
    spark = engine.session.children._root.sql
    for name, column, kind in (("by_char", "c", "CHAR(6)"), ("by_varchar", "v", "VARCHAR(6)")):
        place = (data_dir / "others" / name).as_uri()
        spark(
            f"CREATE TABLE {FILES}.{name} (id BIGINT, {column} {kind}) USING parquet"
            f" PARTITIONED BY ({column}) LOCATION '{place}'"
        )
        spark(f"INSERT INTO {FILES}.{name} SELECT id, name FROM lake.shop.by_name WHERE name <> ''")
    for name, columns, values in (
        ("chars", "c CHAR(6), short CHAR(5)", "name, substr(name, 1, 5)"),
        ("texts", "v VARCHAR(6), t STRING COLLATE UTF8_LCASE", "name, upper(name)"),
    ):
        place = (data_dir / "others" / name).as_uri()
        spark(f"CREATE TABLE {FILES}.{name} (k INT, year INT, {columns}) USING parquet LOCATION '{place}'")
        spark(f"INSERT INTO {FILES}.{name} SELECT k, year, {values} FROM lake.shop.dim")


@pytest.mark.parametrize(("sql", "reason"), REFUSED.values(), ids=REFUSED)
def test_such_text_gives_no_keys(sql: str, reason: Reason | None, harness: Harness) -> None:
    checked = harness.check(sql)
    assert checked.applied == {}
    if reason is not None:
        assert reason in {filter_record.reason for filter_record in checked.pruned.filters}


@pytest.mark.parametrize("sql", SAME_ROWS.values(), ids=SAME_ROWS)
def test_rows_are_the_same(sql: str, harness: Harness) -> None:
    harness.check(sql)


def test_some_of_these_joins_have_rows(harness: Harness) -> None:
    """Without rows, the test would prove nothing."""
    for name in ("CHAR and CHAR", "with the same text in capitals", "by a cast of both"):
        assert harness.run(REFUSED[name][0]).rows.num_rows > 0, name
