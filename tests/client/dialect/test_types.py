"""Tests types: the texts that name them, and the texts that they become."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from pyiceberg import types as iceberg
from sqlalchemy.exc import ArgumentError, CompileError, SAWarning

from sluice_client.sqlalchemy import INTERVAL, MAP, STRUCT, TINYINT, VARIANT, SluiceDialect
from sluice_client.sqlalchemy.type_texts import Spelling, type_of


def sql(kind: Any) -> str:
    return str(sa.types.to_instance(kind).compile(dialect=SluiceDialect()))


WRITTEN: dict[str, tuple[Any, str]] = {
    "Boolean": (sa.Boolean, "BOOLEAN"),
    "TINYINT": (TINYINT, "TINYINT"),
    "SmallInteger": (sa.SmallInteger, "SMALLINT"),
    "Integer": (sa.Integer, "INT"),
    "BigInteger": (sa.BigInteger, "BIGINT"),
    "Float": (sa.Float, "DOUBLE"),
    "Float of 24 bits": (sa.Float(24), "FLOAT"),
    "FLOAT": (sa.FLOAT, "FLOAT"),
    "REAL": (sa.REAL, "FLOAT"),
    "Double": (sa.Double, "DOUBLE"),
    "DOUBLE_PRECISION": (sa.DOUBLE_PRECISION, "DOUBLE"),
    "Numeric": (sa.Numeric, "DECIMAL(38, 18)"),
    "Numeric(7, 2)": (sa.Numeric(7, 2), "DECIMAL(7, 2)"),
    "DECIMAL(7)": (sa.DECIMAL(7), "DECIMAL(7, 0)"),
    "String": (sa.String(20), "STRING"),
    "Text": (sa.Text, "STRING"),
    "Unicode": (sa.Unicode(20), "STRING"),
    "CHAR": (sa.CHAR(3), "STRING"),
    "Enum": (sa.Enum("a", "b"), "STRING"),
    "Uuid": (sa.Uuid, "STRING"),
    "JSON": (sa.JSON, "STRING"),
    "Date": (sa.Date, "DATE"),
    "Time": (sa.Time, "TIME"),
    "DateTime": (sa.DateTime, "TIMESTAMP_NTZ"),
    "DateTime with a zone": (sa.DateTime(timezone=True), "TIMESTAMP"),
    "TIMESTAMP": (sa.TIMESTAMP(timezone=True), "TIMESTAMP"),
    "LargeBinary": (sa.LargeBinary(10), "BINARY"),
    "VARBINARY": (sa.VARBINARY(10), "BINARY"),
    "Interval": (sa.Interval, "INTERVAL DAY TO SECOND"),
    "INTERVAL": (INTERVAL("year to month"), "INTERVAL YEAR TO MONTH"),
    "VARIANT": (VARIANT, "VARIANT"),
    "ARRAY": (sa.ARRAY(sa.Integer), "ARRAY<INT>"),
    "ARRAY of ARRAY": (sa.ARRAY(sa.Integer, dimensions=2), "ARRAY<ARRAY<INT>>"),
    "MAP": (MAP(sa.String, sa.ARRAY(sa.Numeric(7, 2))), "MAP<STRING, ARRAY<DECIMAL(7, 2)>>"),
    "STRUCT": (STRUCT([("a`b", sa.Integer), ("c", VARIANT())]), "STRUCT<`a``b`: INT, `c`: VARIANT>"),
}


@pytest.mark.parametrize(("kind", "expected"), WRITTEN.values(), ids=WRITTEN)
def test_a_type_is_written(kind: Any, expected: str) -> None:
    assert sql(kind) == expected


def test_a_column_without_a_type_is_refused() -> None:
    table = sa.Table("t", sa.MetaData(), sa.Column("c"))
    with pytest.raises(CompileError, match="type"):
        sa.schema.CreateTable(table).compile(dialect=SluiceDialect())


def test_fields_of_an_interval_are_words() -> None:
    with pytest.raises(ArgumentError, match="words"):
        INTERVAL("DAY) --")


BY_SPARK: dict[str, str] = {
    "boolean": "BOOLEAN",
    "TINYINT": "TINYINT",
    "SMALLINT": "SMALLINT",
    "INT": "INT",
    "bigint": "BIGINT",
    "FLOAT": "FLOAT",
    "DOUBLE": "DOUBLE",
    "DECIMAL(7,2)": "DECIMAL(7, 2)",
    "decimal(38, 0)": "DECIMAL(38, 0)",
    "DECIMAL": "DECIMAL(10, 0)",
    "STRING": "STRING",
    "STRING COLLATE UTF8_LCASE": "STRING",
    "CHAR(3)": "STRING",
    "VARCHAR(20)": "STRING",
    "BINARY": "BINARY",
    "DATE": "DATE",
    "TIME(6)": "TIME",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMP_LTZ": "TIMESTAMP",
    "TIMESTAMP_NTZ": "TIMESTAMP_NTZ",
    "INTERVAL DAY TO SECOND": "INTERVAL DAY TO SECOND",
    "INTERVAL YEAR TO MONTH": "INTERVAL YEAR TO MONTH",
    "interval day": "INTERVAL DAY",
    "INTERVAL": "INTERVAL DAY TO SECOND",
    "VARIANT": "VARIANT",
    "VOID": "VOID",
    "ARRAY<INT>": "ARRAY<INT>",
    "ARRAY<ARRAY<ARRAY<INT>>>": "ARRAY<ARRAY<ARRAY<INT>>>",
    "MAP<STRING, ARRAY<DECIMAL(7,2)>>": "MAP<STRING, ARRAY<DECIMAL(7, 2)>>",
    "STRUCT<a: ARRAY<DECIMAL(7,2)>>": "STRUCT<`a`: ARRAY<DECIMAL(7, 2)>>",
    "struct<a:int,b:struct<c:string>>": "STRUCT<`a`: INT, `b`: STRUCT<`c`: STRING>>",
    "STRUCT<a INT, b STRING>": "STRUCT<`a`: INT, `b`: STRING>",
    "STRUCT<`a,b>``c`: INT NOT NULL COMMENT 'it\\'s, > here', d: DATE>": "STRUCT<`a,b>``c`: INT, `d`: DATE>",
    "STRUCT<a: STRING COLLATE UNICODE NOT NULL>": "STRUCT<`a`: STRING>",
    "STRUCT<>": "STRUCT<>",
    "STRUCT<date: DATE, `a b`: TIMESTAMP_NTZ>": "STRUCT<`date`: DATE, `a b`: TIMESTAMP_NTZ>",
}
BY_ICEBERG: dict[str, str] = {
    "long": "BIGINT",
    "int": "INT",
    "decimal(9, 2)": "DECIMAL(9, 2)",
    "timestamp": "TIMESTAMP_NTZ",
    "timestamptz": "TIMESTAMP",
    "timestamp_ns": "TIMESTAMP_NTZ",
    "timestamptz_ns": "TIMESTAMP",
    "uuid": "STRING",
    "fixed[16]": "BINARY",
    "unknown": "VOID",
    "variant": "VARIANT",
    "list<string>": "ARRAY<STRING>",
    "list<list<int>>": "ARRAY<ARRAY<INT>>",
    "map<string, decimal(9, 2)>": "MAP<STRING, DECIMAL(9, 2)>",
    "struct<91: city: optional string, 92: at: required date>": "STRUCT<`city`: STRING, `at`: DATE>",
    "struct<91: a, b: optional struct<92: c: optional long (a (doc)), 93: d: optional date (x)>>": (
        "STRUCT<`a, b`: STRUCT<`c`: BIGINT, `d`: DATE>>"
    ),
    "list<struct<1: n: optional list<long>>>": "ARRAY<STRUCT<`n`: ARRAY<BIGINT>>>",
}


@pytest.mark.parametrize(("text", "expected"), BY_SPARK.items(), ids=BY_SPARK)
def test_a_text_of_spark_is_read(text: str, expected: str) -> None:
    assert sql(type_of(text)) == expected


@pytest.mark.parametrize(("text", "expected"), BY_ICEBERG.items(), ids=BY_ICEBERG)
def test_a_text_of_iceberg_is_read(text: str, expected: str) -> None:
    assert sql(type_of(text, Spelling.ICEBERG)) == expected


def test_a_text_of_pyiceberg_is_read() -> None:
    kind = iceberg.StructType(
        iceberg.NestedField(
            1, "a b", iceberg.ListType(2, iceberg.DecimalType(7, 2)), doc="it's (a) doc, yes"
        ),
        iceberg.NestedField(3, "m", iceberg.MapType(4, iceberg.StringType(), 5, iceberg.TimestamptzType())),
        iceberg.NestedField(
            6, "s", iceberg.StructType(iceberg.NestedField(7, "f", iceberg.FixedType(3), required=True))
        ),
        iceberg.NestedField(8, "u", iceberg.UUIDType(), doc="the last one"),
    )
    assert sql(type_of(str(kind), Spelling.ICEBERG)) == (
        "STRUCT<`a b`: ARRAY<DECIMAL(7, 2)>, `m`: MAP<STRING, TIMESTAMP>, `s`: STRUCT<`f`: BINARY>,"
        " `u`: STRING>"
    )


@pytest.mark.parametrize("written", sorted({text for _, text in WRITTEN.values()}))
def test_what_is_written_is_read(written: str) -> None:
    assert sql(type_of(written)) == written


def test_lengths_are_kept_where_the_text_has_them() -> None:
    found = type_of("VARCHAR(20)")
    assert isinstance(found, sa.VARCHAR)
    assert found.length == 20
    assert repr(type_of("CHAR(3)")) == "CHAR(length=3)"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NEVER_HEARD_OF",
        "INT INT",
        "ARRAY",
        "ARRAY<",
        "ARRAY<INT",
        "ARRAY<INT>>",
        "MAP<INT>",
        "STRUCT<a>",
        "STRUCT<a: INT,,b: INT>",
        "DECIMAL(7,2",
        "ARRAY<" * 5000 + "INT" + ">" * 5000,
        "GEOMETRY(OGC:CRS84)",
        "\x00",
    ],
    ids=lambda text: text[:20] or "empty",
)
def test_a_text_that_is_not_known_is_no_type_and_warns(text: str) -> None:
    with pytest.warns(SAWarning, match="Did not recognize the type"):
        assert isinstance(type_of(text), sa.types.NullType)


@given(st.text("<>,:()[]` aINTSRUCMPYDEL0123'\\\n", max_size=60), st.sampled_from(Spelling))
def test_every_text_has_an_answer(text: str, spelling: Spelling) -> None:
    for around in ("{}", "STRUCT<{}>", "ARRAY<{}>", "MAP<INT, {}>", "struct<1: {}: optional int>"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)
            assert isinstance(type_of(around.format(text), spelling), sa.types.TypeEngine)
