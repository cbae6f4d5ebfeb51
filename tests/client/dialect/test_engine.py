"""Tests engines: queries, values, errors, pools, writes and frames, on a gateway over fakes."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import sqlalchemy as sa
from sqlalchemy import exc, orm

from service.errors.query_errors import QueryFailed
from service.errors.statement_errors import StatementNotAllowed
from sluice_client import RetryPolicy, dbapi
from tests.client.dialect.conftest import MakeEngine
from tests.client.gateways import Served
from tests.client.transports import LossyTransport

NUMBERS = sa.table("numbers", sa.column("n", sa.Integer), sa.column("name", sa.String))


@pytest.fixture
def _numbers(gateway: Served) -> None:
    gateway.queries.database.execute(
        "CREATE TABLE numbers AS SELECT range AS n, 'row ' || range AS name FROM range(5)"
    )


def statements(gateway: Served) -> list[str]:
    return [query.request.sql for query in gateway.queries.by_id.values()]


@pytest.mark.usefixtures("_numbers")
def test_a_query_with_parameters(gateway: Served, engine: sa.Engine) -> None:
    statement = sa.select(NUMBERS.c.n, NUMBERS.c.name).where(
        NUMBERS.c.n.in_([1, 3, 4]), NUMBERS.c.name != "row 4"
    )
    with engine.connect() as connection:
        result = connection.execute(statement.order_by(NUMBERS.c.n))
        assert result.keys() == ["n", "name"]
        assert result.all() == [(1, "row 1"), (3, "row 3")]
    [query] = gateway.queries.by_id.values()
    assert (query.request.catalog, query.request.schema) == ("lake", "shop")


@pytest.mark.usefixtures("_numbers")
def test_a_text_takes_named_parameters_and_a_driver_text_question_marks(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        assert connection.execute(
            sa.text("SELECT n FROM numbers WHERE n > :n AND name <> '\\:n'"), {"n": 3}
        ).all() == [(4,)]
        assert connection.exec_driver_sql("SELECT n FROM numbers WHERE n > ?", (3,)).all() == [(4,)]
        assert connection.exec_driver_sql("SELECT '100%' AS p").scalar() == "100%"


@pytest.mark.usefixtures("_numbers")
def test_rows_are_read_part_by_part(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        result = connection.execution_options(yield_per=2).execute(
            sa.select(NUMBERS.c.n).order_by(NUMBERS.c.n)
        )
        assert [len(part) for part in result.partitions()] == [2, 2, 1]


def test_limits_of_results_are_the_operators(gateway: Served, make_engine: MakeEngine) -> None:
    for path in ("", "?row_limit=7"):
        with make_engine(f"/lake/shop{path}").connect() as connection:
            connection.execute(sa.text("SELECT 1"))
    limits = [query.request.row_limit for query in gateway.queries.by_id.values()]
    assert limits == [1_000_000, 7]


VALUES: dict[str, Any] = {
    "text": "it's ? :a %(b)s",
    "number": 7,
    "long": 2**40,
    "float": 0.5,
    "boolean": True,
    "null": None,
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_goes_there_and_back(engine: sa.Engine, value: Any) -> None:
    with engine.connect() as connection:
        assert connection.execute(sa.select(sa.literal(value))).scalar() == value


ROWS: dict[str, tuple[pa.Array, Any, Any]] = {
    "decimal": (pa.array([Decimal("1.50")]), sa.Numeric(7, 2), Decimal("1.50")),
    "decimal as float": (pa.array([Decimal("1.50")]), sa.Numeric(7, 2, asdecimal=False), 1.5),
    "double": (pa.array([1.5]), sa.Float, 1.5),
    "date": (pa.array([datetime.date(2000, 1, 2)]), sa.Date, datetime.date(2000, 1, 2)),
    "moment": (
        pa.array([datetime.datetime(2000, 1, 2)], pa.timestamp("us", "UTC")),
        sa.DateTime(timezone=True),
        datetime.datetime(2000, 1, 2, tzinfo=datetime.UTC),
    ),
    "bytes": (pa.array([b"\x00a"]), sa.LargeBinary, b"\x00a"),
    "list": (pa.array([[1, 2]]), sa.ARRAY(sa.Integer), [1, 2]),
    "struct": (pa.array([{"a": 1}]), None, {"a": 1}),
    "map": (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32())), None, [("a", 1)]),
    "interval": (pa.array([datetime.timedelta(days=1)]), sa.Interval, datetime.timedelta(days=1)),
}


@pytest.mark.parametrize(("values", "kind", "expected"), ROWS.values(), ids=ROWS)
def test_a_value_of_arrow_is_one_of_python(
    gateway: Served, engine: sa.Engine, values: pa.Array, kind: Any, expected: Any
) -> None:
    gateway.queries.answers["SELECT c \nFROM t"] = pa.table({"c": values})
    column = sa.column("c") if kind is None else sa.column("c", kind)
    with engine.connect() as connection:
        assert connection.execute(sa.select(column).select_from(sa.table("t"))).scalar() == expected


# Writes


@pytest.mark.usefixtures("_numbers")
def test_several_rows_are_one_insert(gateway: Served, engine: sa.Engine) -> None:
    with engine.begin() as connection:
        rows = [{"n": number, "name": "new"} for number in range(10, 13)]
        connection.execute(sa.insert(NUMBERS), rows)
        assert connection.execute(sa.select(sa.func.count()).select_from(NUMBERS)).scalar() == 8
    [insert, _] = statements(gateway)
    assert insert == "INSERT INTO numbers (n, name) VALUES (?, ?), (?, ?), (?, ?)"


@pytest.mark.usefixtures("_numbers")
def test_an_insert_of_many_rows_has_as_many_parameters_as_a_gateway_takes(
    gateway: Served, engine: sa.Engine
) -> None:
    with engine.begin() as connection:
        connection.execute(sa.insert(NUMBERS), [{"n": n, "name": "x"} for n in range(1200)])
    assert [text.count("?") for text in statements(gateway)] == [1000, 1000, 400]


@pytest.mark.parametrize(("affected", "expected"), [(12, 12), (None, -1)])
def test_a_write_has_the_number_of_rows_that_it_changed_and_no_rows(
    gateway: Served, engine: sa.Engine, affected: int | None, expected: int
) -> None:
    answer = pa.table({"rows_affected": pa.array([affected], pa.int64()), "snapshot_id": [7]})
    gateway.queries.answers["UPDATE numbers SET n=? WHERE numbers.n = ?"] = answer
    gateway.queries.answers["DELETE FROM numbers WHERE numbers.n = ?"] = answer
    with engine.begin() as connection:
        for statement in (
            sa.update(NUMBERS).where(NUMBERS.c.n == 1).values(n=2),
            sa.delete(NUMBERS).where(NUMBERS.c.n == 1),
        ):
            result = connection.execute(statement)
            assert not result.returns_rows
            assert result.rowcount == expected


def test_updates_of_several_rows_are_sent_one_by_one(gateway: Served, engine: sa.Engine) -> None:
    sql = "UPDATE numbers SET n=? WHERE numbers.name = ?"
    gateway.queries.answers[sql] = pa.table({"rows_affected": [1], "snapshot_id": [7]})
    with engine.begin() as connection:
        statement = sa.update(NUMBERS).where(NUMBERS.c.name == sa.bindparam("who"))
        connection.execute(statement, [{"n": 1, "who": "a"}, {"n": 2, "who": "b"}])
    assert statements(gateway) == [sql, sql]


def test_tables_are_created_and_dropped(gateway: Served, engine: sa.Engine) -> None:
    table = sa.Table("made", sa.MetaData(), sa.Column("id", sa.BigInteger, primary_key=True))
    table.metadata.create_all(engine)
    table.drop(engine, checkfirst=False)
    texts = [" ".join(text.split()) for text in statements(gateway)]
    assert texts[0] == "CREATE TABLE made ( id BIGINT NOT NULL )"
    assert texts[-1] == "DROP TABLE made"


def test_objects_are_mapped(gateway: Served, engine: sa.Engine) -> None:
    class Base(orm.DeclarativeBase):
        pass

    class Thing(Base):
        __tablename__ = "things"
        id: orm.Mapped[int] = orm.mapped_column(primary_key=True, autoincrement=False)
        name: orm.Mapped[str]

    gateway.queries.database.execute("CREATE TABLE things (id INTEGER, name VARCHAR)")
    with orm.Session(engine) as session:
        session.add_all([Thing(id=1, name="a"), Thing(id=2, name="b")])
        session.commit()
        assert session.scalars(sa.select(Thing.name).order_by(Thing.id.desc())).all() == ["b", "a"]
        assert session.get_one(Thing, 1).name == "a"


# Transactions


def test_commit_and_rollback_do_nothing(gateway: Served, engine: sa.Engine) -> None:
    with engine.connect() as connection:
        connection.execute(sa.text("SELECT 1"))
        connection.rollback()
        connection.execute(sa.text("SELECT 2"))
        connection.commit()
    assert statements(gateway) == ["SELECT 1", "SELECT 2"]


def test_the_isolation_level_is_autocommit(make_engine: MakeEngine) -> None:
    with make_engine(isolation_level="AUTOCOMMIT").connect() as connection:
        assert connection.get_isolation_level() == "AUTOCOMMIT"
        with pytest.raises(exc.ArgumentError, match="SERIALIZABLE"):
            connection.execution_options(isolation_level="SERIALIZABLE")


def test_there_are_no_savepoints(engine: sa.Engine) -> None:
    with engine.connect() as connection, pytest.raises(exc.NotSupportedError, match="no transactions"):
        connection.begin_nested()


# Errors and pools


@pytest.mark.parametrize(
    ("failure", "kind"),
    [(QueryFailed("Division by zero."), exc.DataError), (StatementNotAllowed("No."), exc.NotSupportedError)],
)
def test_an_error_has_the_class_of_the_driver(
    gateway: Served, engine: sa.Engine, failure: Any, kind: type[exc.DBAPIError]
) -> None:
    gateway.queries.failures["SELECT 1"] = failure
    with engine.connect() as connection, pytest.raises(kind) as raised:
        connection.execute(sa.text("SELECT 1"))
    assert isinstance(raised.value.orig, dbapi.Error)
    assert not raised.value.connection_invalidated


def test_a_missing_table_is_a_programming_error(engine: sa.Engine) -> None:
    with engine.connect() as connection, pytest.raises(exc.ProgrammingError, match="TABLE_NOT_FOUND"):
        connection.execute(sa.text("SELECT * FROM nope"))


def test_statements_of_a_pooled_connection_share_a_session(gateway: Served, make_engine: MakeEngine) -> None:
    engine = make_engine("/lake/shop?time_zone=UTC", pool_size=1)
    for _ in range(2):
        with engine.connect() as connection:
            connection.execute(sa.text("SELECT 1"))
    sessions = [query.request.session for query in gateway.queries.by_id.values()]
    assert len({session.session_id for session in sessions if session is not None}) == 1
    assert None not in sessions


@pytest.mark.parametrize("has_ping", [False, True], ids=["without a ping", "with a ping"])
def test_a_session_that_is_gone_is_replaced(gateway: Served, make_engine: MakeEngine, has_ping: bool) -> None:
    engine = make_engine("/lake/shop?session=true", pool_size=1, pool_pre_ping=has_ping)
    with engine.connect() as connection:
        connection.execute(sa.text("SELECT 1"))
    [*_, query] = gateway.queries.by_id.values()
    assert query.request.session is not None
    gateway.gateway.sessions.end(query.request.session.session_id, query.record.caller)
    if not has_ping:
        with engine.connect() as connection, pytest.raises(exc.OperationalError) as raised:
            connection.execute(sa.text("SELECT 2"))
        assert raised.value.connection_invalidated
    with engine.connect() as connection:
        assert connection.execute(sa.text("SELECT 3")).scalar() == 3


def test_a_ping_runs_no_query(gateway: Served, make_engine: MakeEngine) -> None:
    engine = make_engine(pool_pre_ping=True)
    for _ in range(2):
        with engine.connect():
            pass
    assert gateway.queries.by_id == {}


def test_an_answer_that_got_lost_does_not_invalidate_the_connection(make_engine: MakeEngine) -> None:
    lossy = LossyTransport(lambda request, _: request.url.path == "/query")
    engine = make_engine(connect_args={"transport": lossy, "retries": RetryPolicy(attempts=1)})
    with engine.connect() as connection, pytest.raises(exc.OperationalError) as raised:
        connection.execute(sa.text("SELECT 1"))
    assert not raised.value.connection_invalidated


# pandas


@pytest.mark.usefixtures("_numbers")
def test_pandas_reads_queries_and_tables(engine: sa.Engine) -> None:
    frame = pd.read_sql("SELECT n, name FROM numbers WHERE n > 2 ORDER BY n", engine)
    assert frame.to_dict("list") == {"n": [3, 4], "name": ["row 3", "row 4"]}
    frame = pd.read_sql(sa.select(NUMBERS.c.n).where(NUMBERS.c.n > 3), engine)
    assert frame["n"].tolist() == [4]
    frame = pd.read_sql(sa.text("SELECT n FROM numbers WHERE n > :n"), engine, params={"n": 3})
    assert frame["n"].tolist() == [4]
    parts = pd.read_sql("SELECT n FROM numbers", engine, chunksize=2)
    assert [len(part) for part in parts] == [2, 2, 1]


def test_pandas_reads_a_table_by_its_name(gateway: Served, engine: sa.Engine) -> None:
    gateway.queries.database.execute("CREATE TABLE orders AS SELECT 1 AS id, 'a' AS kind")
    assert pd.read_sql_table("orders", engine, columns=["id", "kind"]).to_dict("list") == {
        "id": [1],
        "kind": ["a"],
    }


def test_pandas_writes_a_frame(gateway: Served, engine: sa.Engine) -> None:
    pd.DataFrame({"n": [1, 2], "t": ["a", "b"]}).to_sql("written", engine, index=False)
    texts = [" ".join(text.split()) for text in statements(gateway)]
    assert texts == [
        "CREATE TABLE written ( n BIGINT, t STRING )",
        "INSERT INTO written (n, t) VALUES (?, ?), (?, ?)",
    ]
