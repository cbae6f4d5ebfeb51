"""Sessions on the engine: settings, schemas and temporary views, with their callers' rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from service.errors.policy_errors import TableAccessDenied
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.sessions.session_changes import (
    DropView,
    ForgetMadeView,
    NoteMadeView,
    PutSettings,
    PutView,
    ResetSetting,
    UseSchema,
)
from service.model.sessions.sessions import SessionValues, SessionView
from service.ports.engine.query_engine import EngineResult
from tests.integration.metadata.conftest import (
    ADMIN,
    FILTERED,
    MASKED,
    NOBODY,
    READER,
    Asking,
    access,
)

pytestmark = pytest.mark.integration

ANSI, ZONE = "spark.sql.ansi.enabled", "spark.sql.session.timeZone"
EMPTY = SessionValues("lake", "shop")


def in_session(settings: Mapping[str, str] | None = None, **views: str) -> SessionValues:
    made = tuple(SessionView(name, sql, "lake", "shop") for name, sql in views.items())
    return replace(EMPTY, settings=settings or {}, views=made)


@pytest.mark.parametrize(
    ("sql", "change"),
    [
        ("USE lake.hr", UseSchema("lake", "hr")),
        ("USE hr", UseSchema("lake", "hr")),
        ("USE SCHEMA hr", UseSchema("lake", "hr")),
        ("USE mem", UseSchema("mem", None)),
        ("SET CATALOG mem", UseSchema("mem", None)),
        ("SET spark.sql.ansi.enabled = FALSE", PutSettings({ANSI: "false"})),
        ("SET `spark.sql.ansi.enabled` = `false`", PutSettings({ANSI: "false"})),
        ("SET TIME ZONE 'Europe/Berlin'", PutSettings({ZONE: "Europe/Berlin"})),
        ("SET TIME ZONE INTERVAL 2 HOURS", PutSettings({ZONE: "+02:00"})),
        ("RESET", ResetSetting()),
        ("RESET spark.sql.ansi.enabled", ResetSetting(ANSI)),
        ("DROP VIEW v", DropView("v")),
        ("DROP VIEW IF EXISTS v", DropView("v", if_exists=True)),
        (
            "CREATE TEMPORARY VIEW v AS SELECT id FROM items",
            PutView(SessionView("v", "SELECT id FROM items", "lake", "shop"), replaces=False),
        ),
        (
            "CREATE OR REPLACE TEMP VIEW v AS SELECT id FROM items",
            PutView(SessionView("v", "SELECT id FROM items", "lake", "shop")),
        ),
    ],
)
def test_a_statement_says_what_it_changes(asking: Asking, sql: str, change: object) -> None:
    assert asking.run(sql, session=EMPTY).change == change
    assert asking.error(sql).startswith("SESSION_REQUIRED")


def written(asking: Asking, sql: str, session: SessionValues, who: Access = FULL_ACCESS) -> EngineResult:
    return asking.run(sql, who, session, begin_write=lambda _: None)


def test_a_short_name_drops_the_view_that_the_session_has_made(asking: Asking) -> None:
    here = SessionValues("mem", "shop")
    noted = written(asking, "CREATE VIEW own AS SELECT 1 AS n", here).change
    assert isinstance(noted, NoteMadeView)
    assert noted.view.name == ("mem", "shop", "own")
    assert "/" not in noted.view.state
    made = replace(here, made=(noted.view,))
    assert asking.error("DROP VIEW own", session=made).startswith("SQL_WRITES_OFF")
    assert asking.error("DROP VIEW IF EXISTS `own`", session=made).startswith("SQL_WRITES_OFF")
    # One of another schema, and one in another case.
    elsewhere = replace(made, schema="hr")
    assert asking.run("DROP VIEW own", session=elsewhere).change == DropView("own")
    assert asking.run("DROP VIEW OWN", session=made).change == DropView("OWN")
    hiding = replace(made, views=(SessionView("OWN", "SELECT 1"),))
    assert asking.run("DROP VIEW own", session=hiding).change == DropView("own")
    assert written(asking, "DROP VIEW own", made).change == ForgetMadeView(noted.view.name)
    assert asking.rows("SHOW VIEWS IN mem.shop LIKE 'own'") == []


def test_a_short_name_drops_no_view_that_another_one_has_made_since(asking: Asking) -> None:
    here = SessionValues("mem", "shop")
    noted = written(asking, "CREATE VIEW theirs AS SELECT 1 AS n", here).change
    assert isinstance(noted, NoteMadeView)
    made = replace(here, made=(noted.view,))
    # It finds a view, and has made none.
    assert written(asking, "CREATE VIEW IF NOT EXISTS theirs AS SELECT 2 AS n", here).change is None
    for others in ("CREATE OR REPLACE VIEW", "CREATE VIEW"):
        written(asking, f"{others} mem.shop.theirs AS SELECT 2 AS n", SessionValues())
        assert written(asking, "DROP VIEW theirs", made).change == DropView("theirs")
        assert written(asking, "DROP VIEW IF EXISTS theirs", made).change == DropView("theirs", True)
        assert asking.rows("SELECT * FROM mem.shop.theirs") == [(2,)]
        written(asking, "DROP VIEW mem.shop.theirs", SessionValues())
    assert asking.run("DROP VIEW theirs", session=made).change == DropView("theirs")


@pytest.mark.parametrize("rule", ["rows:id < 5", "mask:card=NULL"])
@pytest.mark.parametrize("into", ["", "PARTITION (day)", "PARTITION (day = DATE'2024-01-01')"])
def test_no_partition_is_replaced_that_has_hidden_rows(asking: Asking, rule: str, into: str) -> None:
    session = in_session({"spark.sql.sources.partitionOverwriteMode": "DYNAMIC"})
    writes = [("lake.shop.*", action) for action in ("select", "insert", "modify")]
    who = access(*writes, ("lake.shop.orders", rule))
    before = asking.rows("SELECT count(*), sum(id) FROM lake.shop.orders")
    columns = "id, card, at" if "=" in into else "*"
    for condition in ("id < 5", "id < 0"):
        rows = f"SELECT {columns} FROM lake.shop.orders WHERE {condition}"
        with pytest.raises(TableAccessDenied):
            written(asking, f"INSERT OVERWRITE orders {into} {rows}", session, who)
    assert asking.rows("SELECT count(*), sum(id) FROM lake.shop.orders") == before


def test_settings_are_shown(asking: Asking) -> None:
    values = in_session({ANSI: "false"})
    assert asking.rows("SET spark.sql.ansi.enabled", session=values) == [(ANSI, "false")]
    assert asking.rows("SET spark.sql.ansi.enabled", session=EMPTY) == [(ANSI, "true")]
    assert (ANSI, "false") in asking.rows("SET", session=values)
    assert asking.rows("SET spark.sql.ansi.enabled = true", session=values) == [(ANSI, "true")]
    for sql in (
        "SET spark.sql.catalog.lake.warehouse",
        "SET spark.master = local",
        "SET -v",
        "RESET spark.ui.enabled",
    ):
        assert asking.error(sql, session=EMPTY).startswith("SESSION_SETTING_REFUSED"), sql


def test_only_what_may_be_known_is_used(asking: Asking) -> None:
    assert asking.error("USE lake.nope", session=EMPTY) == "SQL_INVALID: There is no schema lake.nope."
    assert asking.error("USE lake.hr", READER, EMPTY) == "SQL_INVALID: There is no schema lake.hr."
    assert asking.run("USE lake.shop", READER, EMPTY).change == UseSchema("lake", "shop")
    for name in ("mem", "nope"):
        assert asking.error(f"SET CATALOG {name}", READER, EMPTY).startswith(
            f"SQL_INVALID: There is no catalog {name}"
        )


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE VIEW mem.shop.v AS SELECT 1",
        "CREATE GLOBAL TEMPORARY VIEW v AS SELECT 1",
        "CREATE TEMPORARY VIEW v USING parquet OPTIONS (path '/tmp')",
        "CREATE TEMPORARY VIEW v AS SELECT reflect('a', 'b')",
        "DROP VIEW mem.shop.some",
        "CREATE TEMPORARY FUNCTION f AS 'a.B'",
        "CREATE TABLE lake.shop.t AS SELECT 1",
        "DROP TABLE lake.shop.items",
        "SET VAR x = 1",
    ],
)
def test_a_session_changes_nothing_else(asking: Asking, sql: str) -> None:
    code = asking.error(sql, session=EMPTY).partition(":")[0]
    assert code in ("STATEMENT_NOT_ALLOWED", "SQL_WRITES_OFF", "SQL_SYNTAX"), sql


def test_settings_reach_their_own_queries_alone(asking: Asking) -> None:
    cast = "SELECT CAST('x' AS INT) AS n"
    assert asking.rows(cast, session=in_session({ANSI: "false"})) == [(None,)]
    assert asking.error(cast, session=EMPTY).startswith("QUERY_FAILED")
    hour = "SELECT hour(TIMESTAMP'2024-07-01 12:00:00Z') AS h"
    assert asking.rows(hour, session=in_session({ZONE: "Europe/Berlin"})) == [(14,)]
    assert asking.rows(hour, session=EMPTY) == [(12,)]


def test_views_are_read_as_their_texts(asking: Asking) -> None:
    values = in_session(
        few="SELECT id FROM items WHERE id < 3",
        fewer="SELECT id FROM few WHERE id < 2",
        items="SELECT id + 100 AS id FROM items",
    )
    assert asking.rows("SELECT * FROM fewer ORDER BY id", session=values) == [(0,), (1,)]
    # The third view is read by its name, and reads the table of this name.
    assert asking.rows("SELECT max(id) FROM items", session=values) == [(104,)]
    assert asking.rows("SELECT max(id) FROM lake.shop.items", session=values) == [(4,)]
    assert asking.rows("SELECT count(*) FROM FEW a JOIN few b USING (id)", session=values) == [(3,)]
    assert asking.error("SELECT * FROM few").startswith("TABLE_NOT_FOUND")
    elsewhere = replace(values, schema="hr")
    assert asking.rows("SELECT count(*) FROM few", session=elsewhere) == [(3,)]
    own = "WITH few AS (SELECT 7 AS id) SELECT id FROM few"
    assert asking.rows(own, session=values) == [(7,)]


def test_views_are_shown_and_described(asking: Asking) -> None:
    values = in_session(few="SELECT id, name FROM items")
    assert [row[0] for row in asking.rows("DESCRIBE few", session=values)] == ["id", "name"]
    assert asking.rows("SHOW VIEWS IN lake.shop", session=values) == [("", "few", True)]
    assert asking.rows("DESCRIBE QUERY SELECT * FROM few", session=values)[0][:2] == ("id", "bigint")
    statement = asking.statement("SELECT name FROM few WHERE id = :id", session=values)
    assert asking.engine.describe(statement).columns[0].name == "name"
    assert "Physical Plan" in asking.rows("EXPLAIN SELECT * FROM few", session=values)[0][0]


def test_columns_of_a_view_are_named(asking: Asking) -> None:
    change = asking.run("CREATE TEMP VIEW v (a, `b c`) AS SELECT id, name FROM items", session=EMPTY).change
    assert isinstance(change, PutView)
    values = replace(EMPTY, views=(change.view,))
    assert [column.name for column in asking.run("SELECT * FROM v", session=values).columns] == ["a", "b c"]


def test_a_view_is_read_with_the_rights_of_who_uses_it(asking: Asking) -> None:
    values = in_session(v="SELECT id, card FROM orders", w="SELECT * FROM v")
    sql = "SELECT count(*), count(card) FROM w"
    assert asking.rows(sql, READER, values) == [(30, 30)]
    assert asking.rows(sql, FILTERED, values) == [(5, 5)]
    assert asking.rows(sql, MASKED, values) == [(30, 0)]
    for who in (NOBODY, access(("lake.shop.items", "select"))):
        for text in (
            sql,
            "DESCRIBE w",
            "DESCRIBE QUERY SELECT * FROM w",
            "CREATE TEMP VIEW x AS SELECT * FROM w",
        ):
            assert (
                asking.error(text, who, values) == "TABLE_ACCESS_DENIED: You may not read lake.shop.orders."
            ), text


def test_a_policed_view_of_a_catalog_is_policed_below_a_temporary_view(asking: Asking) -> None:
    read = (("mem.shop.some", "select"), ("mem.shop.base", "select"))
    values = SessionValues("mem", "shop", views=(SessionView("v", "SELECT * FROM some", "mem", "shop"),))
    assert asking.rows("SELECT count(*) FROM v", access(*read), values) == [(3,)]
    filtered = access(*read, ("mem.shop.some", "rows:id = 1"))
    assert asking.rows("SELECT id FROM v", filtered, values) == [(1,)]
    masked = access(*read, ("mem.shop.base", "mask:card=NULL"))
    assert asking.rows("SELECT DISTINCT card FROM v", masked, values) == [(None,)]
    assert asking.error("SELECT * FROM v", access(read[1]), values).startswith("TABLE_ACCESS_DENIED")


@pytest.mark.parametrize("who", [FULL_ACCESS, ADMIN, READER], ids=["full", "admin", "reader"])
def test_a_text_in_a_session_is_vetted_at_each_use(asking: Asking, who: Access) -> None:
    for text, code in (
        ("DROP TABLE items", "STATEMENT_NOT_ALLOWED"),
        ("EXPLAIN SELECT 1", "STATEMENT_NOT_ALLOWED"),
        ("SHOW TABLES", "STATEMENT_NOT_ALLOWED"),
        ("SELECT reflect('a', 'b')", "STATEMENT_NOT_ALLOWED"),
        ("SELECT * FROM explode(sequence(1, 1000000000))", "QUERY_TOO_LARGE"),
        ("SELECT", "SQL_SYNTAX"),
    ):
        assert asking.error("SELECT * FROM v", who, in_session(v=text)).startswith(code), text


# ---- policies, whatever the session's settings ----------------------------------------------------


@pytest.mark.parametrize("settings", [{ZONE: "Asia/Tokyo"}, {ANSI: "false"}, {ANSI: "false", ZONE: "-11:00"}])
def test_a_row_filter_has_the_gateways_settings(asking: Asking, settings: dict[str, str]) -> None:
    by_moment = access(
        ("lake.shop.orders", "select"), ("lake.shop.orders", "rows:at < '2024-01-01 06:00:00'")
    )
    sql = "SELECT count(*), max(id) FROM orders"
    assert asking.rows(sql, by_moment, EMPTY) == [(6, 5)]
    assert asking.rows(sql, by_moment, in_session(settings)) == [(6, 5)]
    view = in_session(settings, v="SELECT * FROM orders")
    assert asking.rows("SELECT count(*), max(id) FROM v", by_moment, view) == [(6, 5)]


def test_a_mask_has_the_gateways_settings_and_the_query_has_its_own(asking: Asking) -> None:
    masked = access(
        ("lake.shop.orders", "select"), ("lake.shop.orders", "mask:card=CAST(hour(at) AS STRING)")
    )
    values = in_session({ZONE: "Asia/Tokyo"})
    [(mask, hour)] = asking.rows("SELECT card, hour(at) FROM orders WHERE id = 1", masked, values)
    assert (mask, hour) == ("1", 10)
