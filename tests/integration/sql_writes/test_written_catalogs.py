"""CREATE, DROP, ALTER and RENAME by POST /query, under policies."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.integration.sql_writes.conftest import Writing

pytestmark = pytest.mark.integration


def test_a_table_is_made_of_rows_renamed_and_dropped(writing: Writing, fact: str) -> None:
    made, renamed = f"lake.w.m_{uuid4().hex[:8]}", f"lake.w.r_{uuid4().hex[:8]}"
    answer = writing.done("changer", f"CREATE TABLE {made} AS SELECT id, kind FROM {fact} WHERE id < 3")
    assert (answer["write"]["kind"], answer["write"]["rowsAffected"]) == ("CREATE_TABLE_AS", 2)
    assert answer["write"]["snapshotId"] is not None
    assert writing.done("reader", f"SELECT count(*) FROM {made}")["result"]["rows"] == [[2]]
    altered = writing.done("changer", f"ALTER TABLE {made} ADD COLUMN note STRING")
    assert altered["write"]["state"] == "COMMITTED"
    assert (altered["write"]["snapshotId"], altered["result"]["rows"]) == (None, [])
    assert writing.refusal("changer", f"ALTER TABLE {made} RENAME TO {renamed}") == "TABLE_ACCESS_DENIED"
    # A name is completed by the schema and the catalog of the table.
    writing.done("boss", f"ALTER TABLE {made} RENAME TO {renamed}_1")
    writing.done("boss", f"ALTER TABLE {renamed}_1 RENAME TO {renamed.split('.')[-1]}_2")
    writing.done("boss", f"ALTER TABLE {renamed}_2 RENAME TO {renamed.removeprefix('lake.')}")
    writing.done("changer", f"DROP TABLE {renamed}")
    assert writing.refusal("reader", f"SELECT * FROM {renamed}") == "TABLE_NOT_FOUND"


def test_schemas_are_made_by_who_may_create_all_tables_in_them(writing: Writing) -> None:
    assert writing.refusal("changer", "CREATE SCHEMA lake.elsewhere") == "TABLE_ACCESS_DENIED"
    answer = writing.done("boss", "CREATE SCHEMA lake.made COMMENT 'ours'")
    assert (answer["write"]["kind"], answer["write"]["table"]) == ("CREATE_SCHEMA", "lake.made.*")
    writing.done("boss", "DROP SCHEMA lake.made")


@pytest.mark.parametrize(
    ("role", "sql"),
    [
        ("inserter", "CREATE TABLE lake.w.x (id INT)"),
        ("inserter", "DROP TABLE {t}"),
        ("changer", "CREATE TABLE lake.other.x (id INT)"),
        ("filtered", "ALTER TABLE {t} DROP COLUMN kind"),
        ("masked", "ALTER TABLE {t} SET TBLPROPERTIES ('user.a'='b')"),
        ("reader", "COMMENT ON TABLE {t} IS 'x'"),
        ("reader", "CREATE TABLE lake.w.x AS SELECT * FROM {t}"),
        ("changer", "ALTER TABLE {t} RENAME COLUMN kind TO other"),
    ],
)
def test_who_may_not_change_a_catalog_is_refused(writing: Writing, fact: str, role: str, sql: str) -> None:
    assert writing.refusal(role, sql.format(t=fact)) == "TABLE_ACCESS_DENIED"
    assert len(writing.rows(fact)) == 4
