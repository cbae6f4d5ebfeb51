"""SQLAlchemy over a real gateway: Spark runs each construct; tables are made, changed and reflected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import registry

from sluice_client.sqlalchemy import MAP, STRUCT
from tests.client.dialect.test_statements import CONDITIONS, DAYS, LITERALS, SALES, STATEMENTS
from tests.integration.sql_writes.conftest import TOKENS, Writing

pytestmark = pytest.mark.integration

# They have columns of no table.
WITHOUT_TABLES = {"struct", "map", "array"}


def in_this_lake(*called: Any) -> tuple[str, Any]:
    """Returns a statement over `lake.shop` and its parameters, over the schema that roles may write to."""
    statement, parameters = called[2:4]
    return statement.replace("lake.shop.", "lake.w."), parameters


@pytest.fixture(scope="module")
def engine(writing: Writing) -> Iterator[sa.Engine]:
    registry.register("sluice", "sluice_client.sqlalchemy", "SluiceDialect")
    host = writing.gateway.url.removeprefix("http://")
    address = f"sluice://:{TOKENS['changer']}@{host}/lake/w"
    made = sa.create_engine(address)
    sa.event.listen(made, "before_cursor_execute", in_this_lake, retval=True)
    yield made
    made.dispose()


@pytest.fixture(scope="module")
def star(engine: sa.Engine) -> sa.Engine:
    """The tables of the statements, as SQLAlchemy makes and fills them."""
    metadata = sa.MetaData()
    for table in (DAYS, SALES):
        columns = [sa.Column(column.name, column.type) for column in table.columns]
        sa.Table(table.name, metadata, *columns)
    metadata.create_all(engine)
    days, sales = metadata.tables["date_dim"], metadata.tables["sales"]
    with engine.connect() as connection:
        rows = [
            {"d_date_sk": 1, "d_date": date(2000, 1, 2), "d_year": 2000, "d_day_name": "Sunday"},
            {"d_date_sk": 2, "d_date": date(2000, 1, 3), "d_year": 2000, "d_day_name": None},
            {"d_date_sk": 3, "d_date": date(2001, 1, 3), "d_year": 2001, "d_day_name": "1.5"},
        ]
        assert connection.execute(sa.insert(days), rows).rowcount == 3
        connection.execute(sa.insert(sales), [{"sold_sk": 1, "price": Decimal("1.50")}])
    return engine


def queries() -> dict[str, Any]:
    """Returns the statements of the unit tests that read, and a query for each of their conditions."""
    found = {name: statement for name, (statement, _) in STATEMENTS.items() if name not in WITHOUT_TABLES}
    named = {f"where {name}": condition for name, (condition, _) in CONDITIONS.items()}
    # The column is of no table.
    del named["where boolean"], named["where not"]
    # A query may not read the table from itself alone.
    asked = {name: sa.select(DAYS.c.d_date_sk).where(condition) for name, condition in named.items()}
    return {name: query for name, query in (found | asked).items() if query.is_select}


QUERIES = queries()


@pytest.mark.filterwarnings("ignore:SELECT statement has a cartesian product")
@pytest.mark.parametrize("name", QUERIES)
def test_spark_runs_each_construct(name: str, star: sa.Engine) -> None:
    statement = QUERIES[name]
    if name == "lateral":
        statement = sa.select(
            sa.func.explode(sa.func.split(DAYS.c.d_day_name, "n"))
            .table_valued("word")
            .render_derived()
            .lateral("w")
        ).select_from(DAYS)
    if name in ("where cast", "where tuple"):
        # Not every name is a number.
        statement = statement.where(DAYS.c.d_date_sk == 3)
    with star.connect() as connection:
        assert connection.execute(statement).fetchall() is not None


@pytest.mark.parametrize("name", LITERALS)
def test_literals_and_parameters_are_the_same_values(name: str, star: sa.Engine) -> None:
    value, kind, _ = LITERALS[name]
    with star.connect() as connection:
        bound = connection.execute(sa.select(sa.literal(value, kind))).scalar_one()
        text = sa.select(sa.literal(value, kind)).compile(star, compile_kwargs={"literal_binds": True})
        written = connection.exec_driver_sql(str(text)).scalar_one()
    assert bound == written
    if not isinstance(value, datetime) and name != "mark of a list":
        assert written == value


def test_a_table_is_made_changed_and_reflected(engine: sa.Engine) -> None:
    made = sa.Table(
        "things",
        sa.MetaData(),
        sa.Column("id", sa.BigInteger, nullable=False, comment="it's the key"),
        sa.Column("price", sa.Numeric(9, 2)),
        sa.Column("at", sa.DateTime(timezone=True)),
        sa.Column("local", sa.DateTime),
        sa.Column("day", sa.Date),
        sa.Column("name`s", sa.String),
        sa.Column("is_paid", sa.Boolean),
        sa.Column("raw", sa.LargeBinary),
        sa.Column("weight", sa.Double),
        sa.Column("words", sa.ARRAY(sa.String)),
        sa.Column("counts", MAP(sa.String, sa.Integer)),
        sa.Column("place", STRUCT([("city", sa.String), ("zip", sa.Integer)])),
        comment="things 'n' more",
        sluice_partitioned_by=["days(at)", "bucket(4, id)"],
    )
    made.create(engine)
    moment = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
    row = {
        "id": 1, "price": Decimal("1.25"), "at": moment, "local": datetime(2020, 1, 2, 3),
        "day": date(2020, 1, 2), "name`s": "x\\y'z", "is_paid": True, "raw": b"\x00\xff", "weight": 0.5,
    }  # fmt: skip
    found = sa.Table("things", sa.MetaData(), autoload_with=engine)
    with engine.connect() as connection:
        connection.execute(sa.insert(made).values(row))
        assert connection.execute(sa.insert(made), [{"id": 2}, {"id": 3}]).rowcount in (2, -1)
        read = connection.execute(sa.select(found).order_by(found.c.id)).mappings().all()
        assert {name: read[0][name] for name in row} == row
        assert read[1]["price"] is None
        connection.execute(sa.update(made).where(made.c.id == 2).values(price=made.c.id + Decimal("0.75")))
        assert connection.execute(sa.delete(made).where(made.c.id.in_([3]))).rowcount in (1, -1)
        prices = connection.execute(sa.select(found.c.price).order_by(found.c.id)).scalars().all()
        assert prices == [Decimal("1.25"), Decimal("2.75")]
        frame = pd.read_sql(sa.select(found.c.id).order_by(found.c.id), connection)
        assert frame["id"].tolist() == [1, 2]
    inspector = sa.inspect(engine)
    assert "things" in inspector.get_table_names()
    assert inspector.get_table_comment("things")["text"] == "things 'n' more"
    assert found.c.id.comment == "it's the key"
    types = [[column.type.compile(engine.dialect) for column in table.columns] for table in (found, made)]
    assert types[0] == types[1]
    assert inspector.get_view_names() == []
    made.drop(engine)
    assert not sa.inspect(engine).has_table("things")


def test_a_moment_minus_an_interval(star: sa.Engine) -> None:
    statement = sa.select(DAYS.c.d_date_sk).where(
        sa.func.now() - timedelta(days=7) > sa.cast(DAYS.c.d_date, sa.DateTime(timezone=True))
    )
    with star.connect() as connection:
        assert len(connection.execute(statement).fetchall()) == 3


def test_an_inspection_as_superset_makes_it(star: sa.Engine) -> None:
    inspector = sa.inspect(star)
    assert "w" in inspector.get_schema_names()
    assert {"date_dim", "sales"} <= set(inspector.get_table_names("w"))
    assert inspector.get_view_names("w") == []
    columns = inspector.get_columns("date_dim", "w")
    assert [(column["name"], str(column["type"].compile(star.dialect))) for column in columns] == [
        ("d_date_sk", "BIGINT"), ("d_date", "DATE"), ("d_year", "INT"), ("d_day_name", "STRING"),
    ]  # fmt: skip
    assert inspector.get_pk_constraint("date_dim", "w")["constrained_columns"] == []
    assert inspector.get_foreign_keys("date_dim", "w") == []
    assert inspector.get_indexes("date_dim", "w") == []
    # A chart over a query of the user, as text without parameters.
    virtual = sa.text("SELECT * FROM date_dim").columns(sa.column("d_year")).subquery("virtual_table")
    chart = (
        sa.select(virtual.c.d_year.label("year"), sa.func.count().label("n"))
        .select_from(virtual)
        .group_by(virtual.c.d_year)
        .order_by(sa.desc("n"))
        .limit(10)
    )
    written = str(chart.compile(star, compile_kwargs={"literal_binds": True}))
    with closing(star.raw_connection()) as connection:
        cursor = connection.cursor()
        cursor.execute(written)
        assert [column[:2] for column in cursor.description or ()] == [("year", "INT"), ("n", "BIGINT")]
        assert cursor.fetchall() == [(2000, 2), (2001, 1)]
