"""A statement that writes reads no more than its caller may, and the next query sees what it has written."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.integration.sql_writes.conftest import Writing

pytestmark = pytest.mark.integration
SECRET = "lake.hidden.s"


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO {t} SELECT * FROM {s}",
        "INSERT INTO {t} SELECT 9, (SELECT max(kind) FROM {s})",
        "WITH x AS (SELECT * FROM {s}) INSERT INTO {t} SELECT * FROM x",
        "FROM {s} INSERT INTO {t} SELECT *",
        "INSERT INTO {t} SELECT record_count, file_path FROM {s}.files",
        "CREATE TABLE lake.w.stolen AS SELECT * FROM {s}",
        "CREATE OR REPLACE TABLE {t} AS SELECT * FROM {s}",
        "DELETE FROM {t} WHERE id IN (SELECT id FROM {s})",
        "UPDATE {t} SET kind = (SELECT max(kind) FROM {s})",
        "MERGE INTO {t} t USING {s} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET kind = s.kind",
        "INSERT INTO {s} VALUES (1, 'x')",
        "DROP TABLE {s}",
        "CREATE OR REPLACE TABLE {s} (id INT)",
        "ALTER TABLE {t} RENAME TO {s}",
    ],
)
def test_no_write_reaches_what_its_caller_may_not(writing: Writing, fact: str, sql: str) -> None:
    before = writing.rows(fact)
    assert writing.refusal("changer", sql.format(t=fact, s=SECRET)) in (
        "TABLE_ACCESS_DENIED",
        "TABLE_NOT_FOUND",
    )
    assert writing.rows(fact) == before
    assert writing.rows(SECRET) == [(1, "secret"), (2, "secret")]


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO {t} SELECT record_count, file_path FROM {t}.files",
        "DELETE FROM {t} WHERE 1 / (id - 3) > 0",
        "CREATE OR REPLACE TABLE {t} AS SELECT * FROM {t}",
        "DROP TABLE {t}",
    ],
)
def test_what_a_row_filter_hides_is_neither_shown_nor_changed(writing: Writing, fact: str, sql: str) -> None:
    assert writing.refusal("filtered", sql.format(t=fact)) == "TABLE_ACCESS_DENIED"
    assert len(writing.rows(fact)) == 4


def test_the_next_query_sees_the_write(writing: Writing, fact: str) -> None:
    """Keys of filters, rows of small tables, and kept results all belong to a snapshot."""
    keys = f"{fact}_keys"
    made = writing.lake.create_table(
        keys.removeprefix("lake."), pa.schema([("id", pa.int64()), ("day", pa.string())])
    )
    made.append(pa.table({"id": [1, 2, 3], "day": ["mo", "tu", "tu"]}))
    sql = f"SELECT count(*) FROM {fact} AS f JOIN {keys} AS k ON f.id = k.id WHERE k.day = 'mo'"

    def counted() -> int:
        body = {"reuseResult": True, "dynamicFiltering": {"minTableBytes": 0}}
        found: int = writing.done("changer", sql, **body)["result"]["rows"][0][0]
        return found

    assert [counted(), counted()] == [1, 1]
    writing.done("changer", f"UPDATE {keys} SET day = 'mo' WHERE id = 2")
    assert counted() == 2
    writing.done("changer", f"INSERT INTO {fact} VALUES (2, 'again')")
    assert counted() == 3
    writing.done("changer", f"DELETE FROM {keys} WHERE id = 1")
    assert counted() == 2
    writing.done("changer", f"INSERT OVERWRITE {keys} VALUES (4, 'mo')")
    assert counted() == 1
    writing.done("changer", f"CREATE OR REPLACE TABLE {keys} AS SELECT 1L AS id, 'mo' AS day WHERE false")
    assert counted() == 0


@pytest.mark.parametrize(
    "sql",
    ["INSERT INTO {t} VALUES (5, 'c')", "WITH x AS (SELECT 5L AS id, 'c' AS kind) INSERT INTO {t} FROM x"],
)
def test_equal_writes_are_two_writes_whatever_may_be_reused(writing: Writing, fact: str, sql: str) -> None:
    text = sql.format(t=fact)
    answers = [writing.done("changer", text, reuseResult=True) for _ in range(2)]
    assert len({answer["write"]["snapshotId"] for answer in answers}) == 2
    assert len(writing.rows(fact)) == 6
