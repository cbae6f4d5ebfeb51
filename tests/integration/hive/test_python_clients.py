"""Tests that PyHive, impyla and SQLAlchemy's dialect for Hive connect as they are."""

from __future__ import annotations

import base64
import datetime as dt
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from impala.dbapi import connect as impala_connect
from pyhive import hive as pyhive
from pyhive.exc import OperationalError
from sqlalchemy import MetaData, Table, create_engine, inspect, text
from thrift.transport.THttpClient import THttpClient
from thrift.transport.TTransport import TTransportException

from tests.integration.hive.conftest import NAME, PASSWORD, HiveGateway
from tests.integration.running import ENDLESS

pytestmark = pytest.mark.integration
SALES = 1180


def by_password(hive: HiveGateway, **more: Any) -> Any:
    return pyhive.connect(
        host="127.0.0.1", port=hive.port, auth="LDAP", username=NAME, password=PASSWORD, **more
    )


def by_http(hive: HiveGateway) -> Any:
    transport = THttpClient(f"http://127.0.0.1:{hive.http_port}/cliservice/")
    credentials = base64.b64encode(f"{NAME}:{PASSWORD}".encode()).decode()
    transport.setCustomHeaders({"Authorization": f"Basic {credentials}"})
    return pyhive.connect(thrift_transport=transport)


def by_scheme(hive: HiveGateway) -> Any:
    return pyhive.connect("127.0.0.1", hive.http_port, scheme="http", username=NAME, password=PASSWORD)


def by_impala(hive: HiveGateway) -> Any:
    return impala_connect(
        host="127.0.0.1", port=hive.port, auth_mechanism="PLAIN", user=NAME, password=PASSWORD
    )


def by_impala_http(hive: HiveGateway) -> Any:
    return impala_connect(
        host="127.0.0.1",
        port=hive.http_port,
        auth_mechanism="PLAIN",
        user=NAME,
        password=PASSWORD,
        use_http_transport=True,
        http_path="cliservice",
    )


def rows(connection: Any, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    cursor = connection.cursor()
    cursor.execute(sql, *parameters)
    found: list[tuple[Any, ...]] = cursor.fetchall()
    cursor.close()
    return found


def run(connection: Any, sql: str) -> None:
    """Runs a statement as dbt does: not to wait for its end, but to ask for it."""
    cursor = connection.cursor()
    cursor.execute(f'/* {{"app": "dbt", "node_id": "a"}} */\n{sql}', async_=True)
    state = cursor.poll()
    while state.operationState in (0, 1, 7):
        state = cursor.poll()
    assert state.operationState == 2, state.errorMessage
    cursor.close()


@pytest.mark.parametrize("connect", [by_password, by_http, by_scheme, by_impala, by_impala_http])
def test_each_transport_answers_queries(hive: HiveGateway, connect: Callable[[HiveGateway], Any]) -> None:
    connection = connect(hive)
    assert rows(connection, "SELECT count(*) FROM sales") == [(SALES,)]
    connection.close()


def test_pyhive_reads_every_type(hive: HiveGateway) -> None:
    (row,) = rows(
        by_password(hive),
        "SELECT true, 1Y, 2S, 3, 4L, 1.5F, 2.5D, 1.10BD, 'a', X'00FF', DATE'2026-01-02',"
        " TIMESTAMP'2026-01-02 03:04:05.5', array(1, 2), CAST(NULL AS INT)",
    )
    assert row == (
        *(True, 1, 2, 3, 4, 1.5, 2.5, Decimal("1.10"), "a", b"\x00\xff", "2026-01-02"),
        *(dt.datetime(2026, 1, 2, 3, 4, 5, 500_000), "[1,2]", None),
    )


def test_a_wrong_password_is_refused(hive: HiveGateway) -> None:
    with pytest.raises(TTransportException, match="UNAUTHENTICATED"):
        pyhive.connect(host="127.0.0.1", port=hive.port, auth="LDAP", username=NAME, password="no")


def test_an_error_has_its_code_and_what_to_do(hive: HiveGateway) -> None:
    with pytest.raises(OperationalError, match=r"COLUMN_NOT_FOUND: There is no column amonut\. Did you mean"):
        rows(by_password(hive), "SELECT amonut FROM sales")


def test_a_session_takes_the_settings_of_dbt(hive: HiveGateway) -> None:
    connection = by_password(hive, configuration={"spark.sql.ansi.enabled": "false"})
    assert rows(connection, '/* {"app": "dbt"} */ SELECT CAST(\'x\' AS INT)') == [(None,)]


def test_a_view_is_made_as_dbt_writes_it(hive: HiveGateway) -> None:
    connection = by_password(hive)
    for year in (1999, 2000):
        made = connection.cursor()
        made.execute(
            '/* {"app": "dbt", "node_id": "model.shop.days_of"} */\n\n  create or replace view shop.days_of\n'
            "  (d_year comment 'the year')\n  comment 'by dbt'\n  tblproperties ('user.owner' = 'shop')\n"
            f"  as\n    \n\nwith days as (select * from calendar)\nselect {year} + 0 * count(*) from days"
        )
        assert made.fetchall() == []
        made.close()
        assert rows(connection, "select d_year from shop.days_of") == [(year,)]
    connection.cursor().execute("drop view if exists shop.days_of")
    with pytest.raises(OperationalError, match="TABLE_NOT_FOUND"):
        rows(connection, "select d_year from shop.days_of")


def test_a_snapshot_drops_the_view_that_it_has_made(hive: HiveGateway) -> None:
    ansi = {"spark.sql.ansi.enabled": "false"}
    connection, other = by_password(hive, configuration=ansi), by_password(hive, configuration=ansi)
    drop = "drop view if exists history__dbt_tmp"
    run(
        connection,
        "create or replace view history__dbt_tmp\n\n\n  as\n    with a as (select 7 as n) select * from a",
    )
    assert rows(connection, "describe extended history__dbt_tmp")[0][:2] == ("n", "int")
    # Another session has not made it: a short name is that of its own temporary view.
    run(other, drop)
    run(connection, "create table shop.kept_names using iceberg as select 1 as n")
    run(
        connection,
        "merge into shop.kept_names as d using history__dbt_tmp as s on s.n = d.n"
        " when not matched then insert *",
    )
    assert rows(other, "select n from shop.kept_names order by n") == [(1,), (7,)]
    run(connection, drop)
    with pytest.raises(OperationalError, match="TABLE_NOT_FOUND"):
        rows(connection, "select * from shop.history__dbt_tmp")
    run(other, "create or replace view shop.history__dbt_tmp as select 1 as n")
    run(connection, drop)
    assert rows(connection, "select * from shop.history__dbt_tmp") == [(1,)]
    run(other, drop)
    run(other, "drop table shop.kept_names")


def test_a_temporary_view_replaces_its_partitions_alone(hive: HiveGateway) -> None:
    connection = by_password(hive)
    run(
        connection,
        "create or replace table shop.days using iceberg partitioned by (day) as"
        " select * from values (1, 'a'), (2, 'b') as t (day, n)",
    )
    run(connection, "set spark.sql.sources.partitionOverwriteMode = DYNAMIC")
    run(connection, "create or replace temporary view days__dbt_tmp as select 2 as day, 'c' as n")
    run(connection, "insert overwrite shop.days select `day`, `n` from days__dbt_tmp")
    assert rows(connection, "select * from shop.days order by day") == [(1, "a"), (2, "c")]
    run(connection, "set spark.sql.sources.partitionOverwriteMode = STATIC")
    run(connection, "insert overwrite shop.days select `day`, `n` from days__dbt_tmp")
    assert rows(connection, "select * from shop.days") == [(2, "c")]
    run(connection, "drop table shop.days")


def test_relations_are_listed_as_dbt_asks_for_them(hive: HiveGateway) -> None:
    connection = by_password(hive, configuration={"spark.sql.ansi.enabled": "false"})
    run(connection, "create or replace view shop.listed as select 1 as n")
    listed = {row[1]: row for row in rows(connection, "show table extended in shop like '*'")}
    assert listed["calendar"][::2] == ("shop", False)
    assert {"Type: MANAGED", "Provider: iceberg"} <= set(listed["calendar"][3].splitlines())
    assert "Type: VIEW" in listed["listed"][3]
    assert "Provider" not in listed["listed"][3]
    run(connection, "drop view shop.listed")
    described = {row[0]: row[1] for row in rows(connection, "describe extended shop.calendar")}
    assert described["Provider"] == "iceberg"


def test_a_statement_is_canceled(hive: HiveGateway) -> None:
    cursor = by_password(hive).cursor()
    cursor.execute(ENDLESS, async_=True)
    cursor.cancel()
    states = {0, 1, 7}
    until_s = time.monotonic() + 60
    while (state := cursor.poll().operationState) in states and time.monotonic() < until_s:
        time.sleep(0.1)
    assert state == 3


def test_results_of_several_chunks_come_whole(hive: HiveGateway) -> None:
    cursor = by_impala(hive).cursor()
    cursor.arraysize = 25_000
    cursor.execute("SELECT id, CAST(id AS STRING) FROM range(60000) ORDER BY id")
    found = cursor.fetchall()
    assert (len(found), found[-1]) == (60_000, (59_999, "59999"))


def test_impyla_binds_parameters_and_lists_what_there_is(hive: HiveGateway) -> None:
    connection = by_impala(hive)
    assert rows(connection, "SELECT count(*) FROM sales WHERE sale_id < ?", [0]) == [(0,)]
    cursor = connection.cursor()
    cursor.get_tables(database_name="shop")
    assert {row[2] for row in cursor.fetchall()} >= {"sales", "calendar"}
    cursor.get_table_schema("sales", "shop")


def test_sqlalchemy_inspects_and_reflects(hive: HiveGateway) -> None:
    password = PASSWORD.replace(" ", "%20").replace("'", "%27")
    engine = create_engine(
        f"hive://{NAME}:{password}@127.0.0.1:{hive.port}/shop", connect_args={"auth": "LDAP"}
    )
    found = inspect(engine)
    assert found.get_schema_names() == ["shop", "shop_archive"]
    assert found.get_table_names(schema="shop_archive") == ["sales_2019"]
    sales = Table("sales", MetaData(schema="shop"), autoload_with=engine)
    assert list(sales.columns.keys()) == ["sale_id", "day_key", "amount"]
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM sales")).scalar() == SALES
    engine.dispose()
