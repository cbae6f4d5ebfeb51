"""Tests the SQL of definitions: tables of Iceberg, without what Iceberg does not have."""

from __future__ import annotations

import re
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import schema
from sqlalchemy.exc import CompileError

from sluice_client.sqlalchemy import SluiceDialect


def compiled(element: Any) -> str:
    return re.sub(r"\s+", " ", str(element.compile(dialect=SluiceDialect()))).strip()


def orders(**options: Any) -> sa.Table:
    return sa.Table(
        "orders",
        sa.MetaData(),
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("kind", sa.String(10), nullable=False, unique=True, comment="it's a `kind`\\"),
        sa.Column("customer", sa.Integer, sa.ForeignKey("customers.id"), sa.CheckConstraint("customer > 0")),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("current_timestamp()")),
        sa.CheckConstraint("id > 0"),
        schema="lake.shop",
        **options,
    )


def test_a_table_has_types_and_comments_and_no_constraints() -> None:
    assert compiled(schema.CreateTable(orders(comment="all 'orders'"), if_not_exists=True)) == (
        "CREATE TABLE IF NOT EXISTS lake.shop.orders ( id BIGINT NOT NULL,"
        r" kind STRING NOT NULL COMMENT 'it\'s a `kind`\\', customer INT,"
        " `at` TIMESTAMP DEFAULT current_timestamp() )"
        r" COMMENT 'all \'orders\''"
    )


def test_a_table_may_be_partitioned_and_have_properties() -> None:
    options: dict[str, Any] = {
        "sluice_partitioned_by": ("kind", "days(at)", "bucket(8, id)", "truncate(4, a`b)"),
        "sluice_tblproperties": {"write.format.default": "parquet", "user.o'clock": 12},
    }
    assert compiled(schema.CreateTable(orders(**options))).endswith(
        ") PARTITIONED BY (kind, days(`at`), bucket(8, id), truncate(4, `a``b`))"
        r" TBLPROPERTIES ('write.format.default' = 'parquet', 'user.o\'clock' = '12')"
    )


def test_one_partition_may_be_a_text_alone() -> None:
    made = compiled(schema.CreateTable(orders(sluice_partitioned_by="days(at)")))
    assert made.endswith("PARTITIONED BY (days(`at`))")


STATEMENTS: dict[str, tuple[Any, str]] = {
    "drop table": (schema.DropTable(orders(), if_exists=True), "DROP TABLE IF EXISTS lake.shop.orders"),
    "create schema": (schema.CreateSchema("lake.new"), "CREATE SCHEMA lake.new"),
    "drop schema": (schema.DropSchema("lake.a`b"), "DROP SCHEMA lake.`a``b`"),
    "comment": (
        schema.SetTableComment(orders(comment="50%\n'x'")),
        r"COMMENT ON TABLE lake.shop.orders IS '50% \'x\''",
    ),
    "no comment": (schema.DropTableComment(orders()), "COMMENT ON TABLE lake.shop.orders IS NULL"),
    "comment of a column": (
        schema.SetColumnComment(orders().c.kind),
        r"ALTER TABLE lake.shop.orders ALTER COLUMN kind COMMENT 'it\'s a `kind`\\'",
    ),
    "no comment of a column": (
        schema.DropColumnComment(orders().c.at),
        "ALTER TABLE lake.shop.orders ALTER COLUMN `at` COMMENT ''",
    ),
}


@pytest.mark.parametrize(("element", "expected"), STATEMENTS.values(), ids=STATEMENTS)
def test_a_statement(element: Any, expected: str) -> None:
    assert compiled(element) == expected


@pytest.mark.parametrize(
    ("element", "message"),
    [
        (schema.CreateIndex(sa.Index("i", orders().c.id)), "no indexes"),
        (schema.CreateSequence(sa.Sequence("s")), "no sequences"),
        (schema.AddConstraint(sa.UniqueConstraint(orders().c.id, name="u")), "no constraints"),
        (
            schema.CreateTable(sa.Table("t", sa.MetaData(), sa.Column("n", sa.Integer, sa.Identity()))),
            "values of its own",
        ),
        (
            schema.CreateTable(sa.Table("t", sa.MetaData(), sa.Column("n", sa.Integer, sa.Computed("1")))),
            "values of its own",
        ),
    ],
    ids=["index", "sequence", "constraint", "identity", "computed"],
)
def test_what_iceberg_does_not_have_is_refused(element: Any, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        compiled(element)


@pytest.mark.parametrize(
    ("schema_name", "is_temporary", "expected"),
    [
        (None, False, "DROP VIEW lake.`shop`.`north`.v"),
        ("w", False, "DROP VIEW w.v"),
        (None, True, "DROP VIEW v"),
    ],
    ids=["of the address", "named", "temporary"],
)
def test_a_view_is_dropped_by_its_schema(schema_name: str | None, is_temporary: bool, expected: str) -> None:
    dialect = SluiceDialect()
    dialect.default_catalog_name, dialect.default_schema_name = "lake", "shop.north"
    table = sa.Table("v", sa.MetaData(), schema=schema_name)
    if is_temporary:
        table = schema.CreateView(sa.select(sa.literal(1).label("n")), "v", temporary=True).table
    made = re.sub(r"\s+", " ", str(schema.DropView(table).compile(dialect=dialect))).strip()
    assert made.replace("`", "") == expected.replace("`", "")
