"""CREATE and DROP VIEW by POST /query: a view shows each reader what this reader may see."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.integration.sql_writes.conftest import Writing

pytestmark = pytest.mark.integration
SECRET = "lake.hidden.s"


@pytest.fixture
def view(writing: Writing) -> Iterator[str]:
    """The name of a view that is gone after the test."""
    name = f"lake.w.v_{uuid4().hex[:12]}"
    yield name
    writing.done("boss", f"DROP VIEW IF EXISTS {name}")


def test_a_view_shows_each_reader_what_the_reader_may_see(writing: Writing, fact: str, view: str) -> None:
    """dbt sends this form, with the names of tables completed by the request's schema."""
    name, table = view.removeprefix("lake."), fact.removeprefix("lake.w.")
    answer = writing.done(
        "changer",
        f"create or replace view {name} (number COMMENT 'the key', kind) comment 'all'\n as\n"
        f" with x as (select * from {table}) select id, kind from x",
        catalog="lake",
        schema="w",
    )
    write = answer["write"]
    assert (write["kind"], write["table"], write["state"]) == ("REPLACE_VIEW", view, "COMMITTED")
    rows = f"SELECT number, kind FROM {view} ORDER BY number"
    assert writing.done("reader", rows)["result"]["rows"] == [[1, "a"], [2, "a"], [3, "b"], [4, "b"]]
    assert writing.done("reader", rows, catalog="lake", schema="hidden")["result"]["rowCount"] == 4
    assert writing.done("filtered", rows)["result"]["rows"] == [[1, "a"], [2, "a"]]
    assert writing.done("masked", rows)["result"]["rows"][0] == [1, "hidden"]
    assert writing.refusal("inserter", rows) == "TABLE_ACCESS_DENIED"
    shown = writing.done("reader", f"DESCRIBE {view}")["result"]["rows"]
    assert ["number", "bigint", "the key"] in shown
    # The next query sees the next text.
    writing.done(
        "changer", f"CREATE OR REPLACE VIEW {view} AS SELECT count(*) AS number, 'n' AS kind FROM {fact}"
    )
    assert writing.done("reader", rows)["result"]["rows"] == [[4, "n"]]
    writing.done("changer", f"DROP VIEW {view}")
    assert writing.refusal("reader", rows) == "TABLE_NOT_FOUND"


def test_a_view_that_exists_stays(writing: Writing, fact: str, view: str) -> None:
    writing.done("changer", f"CREATE VIEW {view} AS SELECT 1 AS one")
    writing.done("changer", f"CREATE VIEW IF NOT EXISTS {view} AS SELECT id FROM {fact}")
    assert writing.done("reader", f"SELECT * FROM {view}")["result"]["rows"] == [[1]]
    refused = writing.refusal("changer", f"CREATE VIEW {view} AS SELECT 2 AS one")
    assert refused != "INTERNAL_ERROR"
    assert writing.done("reader", f"SELECT * FROM {view}")["result"]["rows"] == [[1]]
    # Neither is taken for the other.
    assert writing.refusal("changer", f"DROP TABLE {view}") != "INTERNAL_ERROR"
    assert writing.refusal("changer", f"DROP VIEW {fact}") == "SQL_INVALID"
    assert writing.refusal("changer", f"CREATE OR REPLACE VIEW {fact} AS SELECT 1 AS one") != "INTERNAL_ERROR"
    assert len(writing.rows(fact)) == 4
    assert writing.refusal("changer", f"ALTER VIEW {view} RENAME TO {view}_2") == "TABLE_ACCESS_DENIED"
    writing.done("boss", f"ALTER VIEW {view} RENAME TO {view}_2")
    assert writing.done("reader", f"SELECT * FROM {view}_2")["result"]["rows"] == [[1]]
    assert writing.refusal("boss", f"ALTER VIEW {fact} RENAME TO {view}") == "STATEMENT_NOT_ALLOWED"
    writing.done("boss", f"DROP VIEW {view}_2")


def test_a_view_never_reads_itself(writing: Writing, view: str) -> None:
    writing.done("changer", f"CREATE VIEW {view} AS SELECT 1 AS one")
    writing.done("changer", f"CREATE VIEW {view}_on AS SELECT * FROM {view}")
    for below in (view, f"{view}_on"):
        refused = writing.refusal("changer", f"CREATE OR REPLACE VIEW {view} AS SELECT * FROM {below}")
        assert refused != "INTERNAL_ERROR"
    assert writing.done("reader", f"SELECT * FROM {view}_on")["result"]["rows"] == [[1]]
    writing.done("changer", f"DROP VIEW {view}_on")


@pytest.mark.parametrize(
    "text",
    ["SELECT * FROM {name}", "SELECT * FROM w.{name}", "SELECT (SELECT max(one) FROM {name}) AS one"],
    ids=["one part", "two parts", "subquery"],
)
def test_a_view_never_reads_itself_by_a_shorter_name(writing: Writing, view: str, text: str) -> None:
    own, name = {"catalog": "lake", "schema": "w"}, view.rpartition(".")[2]
    writing.done("changer", f"CREATE VIEW {view} AS SELECT 1 AS one")
    replaced = f"CREATE OR REPLACE VIEW {view} AS {text.format(name=name)}"
    assert writing.refusal("changer", replaced, **own) == "SQL_INVALID"
    assert writing.done("reader", f"SELECT * FROM {view}")["result"]["rows"] == [[1]]


@pytest.mark.parametrize("statement", ["ALTER TABLE {t}", "ALTER VIEW {v}"])
def test_a_new_name_is_one_that_sql_may_write_to(
    writing: Writing, fact: str, view: str, statement: str
) -> None:
    writing.done("boss", f"CREATE VIEW {view} AS SELECT 1 AS one")
    renamed = f"{statement.format(t=fact, v=view)} RENAME TO lake.kept.x_{view[-12:]}"
    assert writing.refusal("boss", renamed) == "WRITE_NOT_ALLOWED"
    assert len(writing.rows(fact)) == 4
    assert writing.done("reader", f"SELECT * FROM {view}")["result"]["rows"] == [[1]]


@pytest.mark.parametrize(
    ("role", "sql", "code"),
    [
        ("reader", "CREATE VIEW {v} AS SELECT id FROM {t}", "TABLE_ACCESS_DENIED"),
        ("changer", "CREATE VIEW lake.hidden.v AS SELECT id FROM {t}", "TABLE_ACCESS_DENIED"),
        ("changer", "CREATE VIEW {v} AS SELECT * FROM {s}", "TABLE_ACCESS_DENIED"),
        ("changer", "CREATE VIEW {v} AS SELECT (SELECT max(kind) FROM {s}) AS m", "TABLE_ACCESS_DENIED"),
        (
            "changer",
            "CREATE VIEW {v} AS WITH x AS (SELECT * FROM {s}) SELECT * FROM x",
            "TABLE_ACCESS_DENIED",
        ),
        ("changer", "CREATE VIEW {v} AS SELECT * FROM {s}.files", "TABLE_ACCESS_DENIED"),
        ("reader", "DROP VIEW {v}", "TABLE_ACCESS_DENIED"),
        (
            "changer",
            "CREATE VIEW {v} AS SELECT reflect('java.lang.System', 'getenv')",
            "STATEMENT_NOT_ALLOWED",
        ),
        ("changer", "CREATE VIEW {v} AS SELECT * FROM parquet.`/etc/x`", "STATEMENT_NOT_ALLOWED"),
        ("changer", "CREATE VIEW {v} AS SELECT * FROM {t} WHERE id = ?", "SQL_SYNTAX"),
        (
            "changer",
            "CREATE VIEW {v} TBLPROPERTIES ('write.metadata.path'='/x') AS SELECT 1",
            "STATEMENT_NOT_ALLOWED",
        ),
        ("changer", "CREATE VIEW {v} WITH SCHEMA EVOLUTION AS SELECT 1 AS one", "STATEMENT_NOT_ALLOWED"),
        ("boss", "CREATE VIEW spark_catalog.default.v AS SELECT 1 AS one", "STATEMENT_NOT_ALLOWED"),
        ("changer", "CREATE VIEW lake.w.files AS SELECT 1 AS one", "STATEMENT_NOT_ALLOWED"),
        ("changer", "CREATE VIEW lake.w.`a.b` AS SELECT 1 AS one", "STATEMENT_NOT_ALLOWED"),
        ("changer", "CREATE VIEW IDENTIFIER('lake.w.' || 'x') AS SELECT 1 AS one", "STATEMENT_NOT_ALLOWED"),
        ("changer", "ALTER VIEW {v} AS SELECT 1 AS one", "STATEMENT_NOT_ALLOWED"),
    ],
)
def test_what_its_creator_may_not_is_refused(
    writing: Writing, fact: str, view: str, role: str, sql: str, code: str
) -> None:
    body = {"parameters": [1]} if "?" in sql else {}
    assert writing.refusal(role, sql.format(t=fact, v=view, s=SECRET), **body) == code
    assert writing.refusal("boss", f"SELECT * FROM {view}") == "TABLE_NOT_FOUND"


def test_names_of_a_session_are_not_kept(writing: Writing, fact: str, view: str) -> None:
    client = writing.clients["changer"]
    session = client.post("/sessions", json={"catalog": "lake", "schema": "w"}).json()["sessionId"]
    own = {"sessionId": session}
    writing.done("changer", "CREATE TEMPORARY VIEW mine AS SELECT 1 AS one", **own)
    assert (
        writing.refusal("changer", f"CREATE VIEW {view} AS SELECT * FROM mine", **own)
        == "STATEMENT_NOT_ALLOWED"
    )
    # One part, without TEMPORARY: a view of the session's schema.
    name = view.rpartition(".")[2]
    writing.done("changer", f"CREATE VIEW {name} AS SELECT id FROM {fact.rpartition('.')[2]}", **own)
    assert writing.done("reader", f"SELECT count(*) FROM {view}")["result"]["rows"] == [[4]]
    # One part drops only what the session has itself, or has made.
    other = client.post("/sessions", json={"catalog": "lake", "schema": "w"}).json()["sessionId"]
    assert writing.refusal("changer", f"DROP VIEW {name}", sessionId=other) == "SESSION_VIEW_NOT_FOUND"
    writing.done("changer", "DROP VIEW mine", **own)
    writing.done("changer", f"DROP VIEW {name}", **own)
    assert writing.refusal("boss", f"SELECT * FROM {view}") == "TABLE_NOT_FOUND"


def test_the_same_request_id_makes_one_view(writing: Writing, view: str) -> None:
    request_id, sql = str(uuid4()), f"CREATE VIEW {view} AS SELECT 1 AS one"
    first = writing.done("changer", sql, requestId=request_id)
    # A second run would fail: the view exists.
    assert writing.done("changer", sql, requestId=request_id)["write"] == first["write"]
