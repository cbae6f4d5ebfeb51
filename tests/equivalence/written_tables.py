"""Tables of many layouts and histories that generated statements write to, and the tables of their keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NAMESPACE = "lake.pw"
FACT_ROWS = 48
COLUMNS = "id, k, b, name, day, price, at"
LAYOUTS: Sequence[str] = (
    "PARTITIONED BY (k)",
    "PARTITIONED BY (bucket(4, k))",
    "PARTITIONED BY (days(at))",
    "PARTITIONED BY (truncate(2, name))",
    "PARTITIONED BY (day, k)",
    "PARTITIONED BY (truncate(10, b))",
    "PARTITIONED BY (price)",
    "",
)
MODES = ("copy-on-write", "merge-on-read")
FACT = (
    "SELECT CAST(id AS BIGINT) AS id, CASE WHEN id % 13 <> 0 THEN CAST(id % 12 AS INT) END AS k, "
    "CAST(id % 12 * 7 - 20 AS BIGINT) AS b, CASE WHEN id % 11 <> 0 THEN concat('n', id % 12) END AS name, "
    "CASE WHEN id % 17 <> 0 THEN CAST(date_add(DATE'1969-12-28', CAST(id % 12 AS INT)) AS DATE) END AS day, "
    "CAST(id % 12 / 4.0 AS DECIMAL(7, 2)) AS price, CAST(concat(CAST(CAST(date_add(DATE'1969-12-28', "
    "CAST(id % 12 AS INT)) AS DATE) AS STRING), ' 0', id % 10, ':30:00') AS TIMESTAMP) AS at"
)
SOURCE = (
    "SELECT CAST(id AS BIGINT) AS id, CASE WHEN id <> 5 THEN CAST(id % 9 AS INT) END AS k, "
    "CAST(id % 9 AS BIGINT) AS kl, CAST(id % 9 AS STRING) AS kt, "
    "CASE WHEN id <> 4 THEN concat('n', id % 5) END AS name, CAST(id % 9 * 7 - 20 AS BIGINT) AS b, "
    "CAST(date_add(DATE'1969-12-28', CAST(id % 6 AS INT)) AS DATE) AS day, "
    "CAST(CAST(date_add(DATE'1969-12-28', CAST(id % 6 AS INT)) AS DATE) AS STRING) AS dt, "
    "CAST(id / 4.0 AS DECIMAL(9, 3)) AS price, CASE WHEN id % 3 = 0 THEN 'd' ELSE 'u' END AS op"
)
SOURCES: Mapping[str, str] = {
    "src": f"{SOURCE} FROM range(7)",
    "dup": f"{SOURCE} FROM (SELECT id % 4 AS id FROM range(9))",
    "wide": f"{SOURCE} FROM range(200)",
    "void": f"{SOURCE} FROM range(3) WHERE id > 7",
    "dim": "SELECT CAST(id AS INT) AS k, concat('g', id % 3) AS kind FROM range(9)",
}
"""The tables that keys come from, by name."""

ODD: Mapping[str, str] = {
    # Keys of other types than those of the target, and values that one of both types does not have.
    "odd": "SELECT * FROM VALUES "
    "(1L, 3D, 3.00BD, ' 3', 3000000000L, TIMESTAMP'1969-12-31 00:00:00', TIMESTAMP_NTZ'1969-12-30 00:00:00', "
    "CAST(3 AS SMALLINT), 'N3'), "
    "(2L, -0D, 0.50BD, '+4', 4L, TIMESTAMP'1970-01-01 03:30:00', TIMESTAMP_NTZ'1970-01-01 03:30:00', "
    "CAST(4 AS SMALLINT), 'n4'), "
    "(3L, CAST('NaN' AS DOUBLE), 2.25BD, NULL, NULL, NULL, NULL, NULL, NULL), "
    "(4L, 2.5D, NULL, '007', -9000000000L, TIMESTAMP'1970-01-02 23:59:59', "
    "TIMESTAMP_NTZ'1970-01-02 00:00:00', "
    "CAST(-1 AS SMALLINT), 'n7 '), "
    "(5L, 1e300D, 99999.99BD, '11', 11L, TIMESTAMP'1969-12-28 00:30:00', TIMESTAMP_NTZ'1969-12-28 00:30:00', "
    "CAST(11 AS SMALLINT), '') "
    "AS o(id, kd, kn, ks, kl, at, ntz, kh, name)",
    # More keys than a list may have.
    "many": "SELECT CAST(id AS BIGINT) AS id, CAST(id % 3000 - 1000 AS INT) AS k, "
    "CAST(id * 7 AS BIGINT) AS b, concat('n', id) AS name FROM range(4000)",
}
"""Tables of keys for the statements of `more_writes.py`."""


@dataclass(frozen=True, slots=True)
class History:
    """The statements beside the four appends of a table: first, after the second one, and at the end."""

    first: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    last: tuple[str, ...] = ()


HISTORIES: Mapping[str, History] = {
    "appended": History(),
    "sorted": History(first=("ALTER TABLE {t} WRITE ORDERED BY b, id",)),
    "partitioned otherwise": History(between=("ALTER TABLE {t} ADD PARTITION FIELD bucket(2, id)",)),
    "widened": History(between=("ALTER TABLE {t} ALTER COLUMN k TYPE BIGINT",)),
    "a column replaced": History(
        between=("ALTER TABLE {t} RENAME COLUMN name TO once", "ALTER TABLE {t} ADD COLUMN name STRING")
    ),
    "rows deleted": History(last=("DELETE FROM {t} WHERE id % 5 = 0",)),
    "compacted": History(
        between=("DELETE FROM {t} WHERE id % 7 = 0",),
        last=("CALL lake.system.rewrite_data_files(table => '{t}', options => map('rewrite-all', 'true'))",),
    ),
    "empty": History(last=("DELETE FROM {t} WHERE true",)),
}
"""How a table may have come to be, by name."""


def fact_texts(
    table: str, layout: str, mode: str, version: int, history: History = HISTORIES["appended"]
) -> list[str]:
    """Returns the statements that make a table of the layout: four appends, ordered by the keys."""
    properties = ", ".join(
        (
            f"'format-version'='{version}'",
            *(f"'write.{each}.mode'='{mode}'" for each in ("delete", "update", "merge")),
        )
    )
    appends = [
        f"INSERT INTO {table} ({COLUMNS}) {FACT} FROM range({FACT_ROWS}) "
        f"WHERE id % 12 BETWEEN {at * 3} AND {at * 3 + 2}"
        for at in range(4)
    ]
    texts = [
        f"CREATE TABLE {table} USING iceberg {layout} TBLPROPERTIES ({properties}) AS {FACT} FROM range(0)",
        *history.first,
        *appends[:2],
        *history.between,
        *appends[2:],
        *history.last,
    ]
    return [f"DROP TABLE IF EXISTS {table}", *(text.replace("{t}", table) for text in texts)]


def source_texts(more: Mapping[str, str] = {}) -> list[str]:
    """Returns the statements that make the tables which keys come from."""
    return [
        text
        for name, query in (*SOURCES.items(), *more.items())
        for text in (
            f"DROP TABLE IF EXISTS {NAMESPACE}.{name}",
            f"CREATE TABLE {NAMESPACE}.{name} USING iceberg AS {query}",
            # A table that has never had rows has no snapshot.
            f"INSERT INTO {NAMESPACE}.{name} SELECT * FROM {NAMESPACE}.{name} WHERE false",
        )
    ]
