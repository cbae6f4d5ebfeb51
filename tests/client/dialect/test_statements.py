"""Tests the SQL that statements become. No gateway is asked."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
import sqlglot
from sqlalchemy.exc import CompileError
from sqlalchemy.sql import quoted_name

from sluice_client.sqlalchemy import MAP, STRUCT, SluiceDialect

DAYS = sa.table(
    "date_dim",
    sa.column("d_date_sk", sa.BigInteger),
    sa.column("d_date", sa.Date),
    sa.column("d_year", sa.Integer),
    sa.column("d_day_name", sa.String),
)
SALES = sa.table(
    "sales", sa.column("sold_sk", sa.BigInteger), sa.column("price", sa.Numeric(7, 2)), schema="lake.shop"
)
SK, DAY, YEAR, NAME = DAYS.c.d_date_sk, DAYS.c.d_date, DAYS.c.d_year, DAYS.c.d_day_name
NESTED = sa.column("place", STRUCT([("ci`ty", sa.String), ("at", sa.TIMESTAMP)]))


def compiled(statement: Any, **options: Any) -> str:
    made = statement.compile(dialect=SluiceDialect(), compile_kwargs=options)
    return re.sub(r"\s+", " ", str(made)).strip()


def where(condition: Any) -> str:
    return compiled(sa.select(sa.literal_column("1")).where(condition)).partition(" WHERE ")[2]


def literal(value: Any, kind: Any = None) -> str:
    return (
        compiled(sa.select(sa.literal(value, kind)), literal_binds=True)
        .removeprefix("SELECT ")
        .rpartition(" AS ")[0]
    )


STATEMENTS: dict[str, tuple[Any, str]] = {
    "limit": (sa.select(SK).limit(3), "SELECT date_dim.d_date_sk FROM date_dim LIMIT ?"),
    "offset": (sa.select(SK).offset(3), "SELECT date_dim.d_date_sk FROM date_dim OFFSET ?"),
    "limit and offset": (
        sa.select(SK).limit(3).offset(4),
        "SELECT date_dim.d_date_sk FROM date_dim LIMIT ? OFFSET ?",
    ),
    "fetch": (sa.select(SK).fetch(3).offset(1), "SELECT date_dim.d_date_sk FROM date_dim LIMIT ? OFFSET ?"),
    "for update": (sa.select(SK).with_for_update(), "SELECT date_dim.d_date_sk FROM date_dim"),
    "order": (
        sa.select(SK).order_by(SK.desc().nulls_last(), YEAR.asc().nulls_first(), NAME),
        "SELECT date_dim.d_date_sk FROM date_dim ORDER BY date_dim.d_date_sk DESC NULLS LAST,"
        " date_dim.d_year ASC NULLS FIRST, date_dim.d_day_name",
    ),
    "distinct": (sa.select(YEAR).distinct(), "SELECT DISTINCT date_dim.d_year FROM date_dim"),
    "group": (
        sa.select(YEAR, sa.func.count().label("n")).group_by(YEAR).having(sa.func.count() > 1),
        "SELECT date_dim.d_year, count(*) AS n FROM date_dim GROUP BY date_dim.d_year HAVING count(*) > ?",
    ),
    "rollup": (
        sa.select(sa.func.count()).select_from(DAYS).group_by(sa.func.rollup(YEAR, NAME)),
        "SELECT count(*) AS count_1 FROM date_dim GROUP BY ROLLUP(date_dim.d_year, date_dim.d_day_name)",
    ),
    "grouping sets": (
        sa.select(sa.func.count())
        .select_from(DAYS)
        .group_by(sa.func.grouping_sets(sa.tuple_(YEAR, NAME), sa.tuple_(YEAR))),
        "SELECT count(*) AS count_1 FROM date_dim"
        " GROUP BY GROUPING SETS((date_dim.d_year, date_dim.d_day_name), (date_dim.d_year))",
    ),
    "filter": (
        sa.select(sa.func.sum(SK).filter(YEAR == 2000)),
        "SELECT sum(date_dim.d_date_sk) FILTER (WHERE date_dim.d_year = ?) AS anon_1 FROM date_dim",
    ),
    "within group": (
        sa.select(sa.func.percentile_cont(0.5).within_group(SK)),
        "SELECT percentile_cont(?) WITHIN GROUP (ORDER BY date_dim.d_date_sk) AS percentile_cont_1"
        " FROM date_dim",
    ),
    "join strings": (
        sa.select(sa.func.aggregate_strings(NAME, ",")),
        "SELECT listagg(date_dim.d_day_name, ?) AS aggregate_strings_1 FROM date_dim",
    ),
    "window": (
        sa.select(sa.func.sum(SK).over(partition_by=YEAR, order_by=SK, rows=(-1, None))),
        "SELECT sum(date_dim.d_date_sk) OVER (PARTITION BY date_dim.d_year ORDER BY date_dim.d_date_sk"
        " ROWS BETWEEN ? PRECEDING AND UNBOUNDED FOLLOWING) AS anon_1 FROM date_dim",
    ),
    "function of Spark": (
        sa.select(sa.func.date_trunc("MONTH", DAY)),
        "SELECT date_trunc(?, date_dim.d_date) AS date_trunc_1 FROM date_dim",
    ),
    "now": (sa.select(sa.func.now()), "SELECT now() AS now_1"),
    "union": (
        sa.union_all(sa.select(SK), sa.select(SALES.c.sold_sk)),
        "SELECT date_dim.d_date_sk FROM date_dim UNION ALL SELECT sales.sold_sk FROM lake.shop.sales",
    ),
    "except and intersect": (
        sa.except_(sa.select(SK), sa.intersect(sa.select(SK), sa.select(YEAR))),
        "SELECT date_dim.d_date_sk FROM date_dim EXCEPT (SELECT date_dim.d_date_sk FROM date_dim"
        " INTERSECT SELECT date_dim.d_year FROM date_dim)",
    ),
    "part of a union with a limit": (
        sa.union(sa.select(SK).limit(1), sa.select(YEAR)),
        "(SELECT date_dim.d_date_sk FROM date_dim LIMIT ?) UNION SELECT date_dim.d_year FROM date_dim",
    ),
    "CTE": (
        sa.select(sa.select(YEAR).cte("years")),
        "WITH years AS (SELECT date_dim.d_year AS d_year FROM date_dim) SELECT years.d_year FROM years",
    ),
    "join": (
        sa.select(SK).select_from(DAYS.join(SALES, SALES.c.sold_sk == SK, full=True)),
        "SELECT date_dim.d_date_sk FROM date_dim FULL OUTER JOIN lake.shop.sales"
        " ON sales.sold_sk = date_dim.d_date_sk",
    ),
    "values": (
        sa.select(
            sa.values(sa.column("n", sa.Integer), sa.column("t", sa.String), name="v").data(
                [(1, "a"), (2, "b")]
            )
        ),
        "SELECT v.n, v.t FROM (VALUES (?, ?), (?, ?)) AS v (n, t)",
    ),
    "lateral": (
        sa.select(sa.func.explode(NAME).table_valued("word").render_derived().lateral("w")).select_from(DAYS),
        "SELECT w.word FROM date_dim, LATERAL explode(date_dim.d_day_name) AS w(word)",
    ),
    "struct": (sa.select(NESTED["ci`ty"]), "SELECT place.`ci``ty` AS anon_1"),
    "map": (sa.select(sa.column("m", MAP(sa.String, sa.Integer))["k"]), "SELECT element_at(m, ?) AS anon_1"),
    "array": (sa.select(sa.column("a", sa.ARRAY(sa.Integer))[2]), "SELECT element_at(a, ?) AS anon_1"),
    "insert": (
        sa.insert(DAYS).values(d_year=1, d_day_name="x"),
        "INSERT INTO date_dim (d_year, d_day_name) VALUES (?, ?)",
    ),
    "insert of several": (
        sa.insert(DAYS).values([{"d_year": 1}, {"d_year": 2}]),
        "INSERT INTO date_dim (d_year) VALUES (?), (?)",
    ),
    "insert from select": (
        sa.insert(SALES).from_select(["sold_sk"], sa.select(SK)),
        "INSERT INTO lake.shop.sales (sold_sk) SELECT date_dim.d_date_sk FROM date_dim",
    ),
    "update": (
        sa.update(DAYS).where(YEAR == 1).values(d_year=YEAR + 1),
        "UPDATE date_dim SET d_year=(date_dim.d_year + ?) WHERE date_dim.d_year = ?",
    ),
    "delete": (
        sa.delete(SALES).where(SALES.c.sold_sk == 1),
        "DELETE FROM lake.shop.sales WHERE sales.sold_sk = ?",
    ),
}


@pytest.mark.parametrize(("statement", "expected"), STATEMENTS.values(), ids=STATEMENTS)
def test_a_statement(statement: Any, expected: str) -> None:
    assert compiled(statement) == expected
    sqlglot.parse_one(expected, dialect="spark")


def test_a_recursive_query() -> None:
    numbers = sa.select(sa.literal(1).label("n")).cte("numbers", recursive=True)
    numbers = numbers.union_all(sa.select(numbers.c.n + 1).where(numbers.c.n < 5))
    assert compiled(sa.select(numbers.c.n)) == (
        "WITH RECURSIVE numbers(n) AS (SELECT ? AS n UNION ALL SELECT numbers.n + ? AS anon_1 FROM numbers"
        " WHERE numbers.n < ?) SELECT numbers.n FROM numbers"
    )


CONDITIONS: dict[str, tuple[Any, str]] = {
    "distinct from": (YEAR.is_distinct_from(SK), "NOT (date_dim.d_year <=> date_dim.d_date_sk)"),
    "not distinct from": (YEAR.is_not_distinct_from(SK), "date_dim.d_year <=> date_dim.d_date_sk"),
    "null": (YEAR.is_(None), "date_dim.d_year IS NULL"),
    "true": (sa.true(), "true"),
    "boolean": (sa.column("b", sa.Boolean).is_(True), "b IS true"),
    "not": (~sa.column("b", sa.Boolean), "NOT b"),
    "in": (YEAR.in_([1, 2]), "date_dim.d_year IN (__[POSTCOMPILE_d_year_1])"),
    "in a query": (
        YEAR.in_(sa.select(SALES.c.sold_sk)),
        "date_dim.d_year IN (SELECT sales.sold_sk FROM lake.shop.sales)",
    ),
    "exists": (
        sa.exists(sa.select(SALES.c.sold_sk)),
        "EXISTS (SELECT sales.sold_sk FROM lake.shop.sales)",
    ),
    "like": (NAME.like("a%", escape="/"), "date_dim.d_day_name LIKE ? ESCAPE '/'"),
    "like with a backslash": (NAME.like("a%", escape="\\"), r"date_dim.d_day_name LIKE ? ESCAPE '\\'"),
    "starts with": (NAME.startswith("a%", autoescape=True), "(date_dim.d_day_name LIKE ? || '%' ESCAPE '/')"),
    "ilike": (NAME.ilike("a%"), "date_dim.d_day_name ILIKE ?"),
    "not ilike": (NAME.not_ilike("a%", escape="!"), "date_dim.d_day_name NOT ILIKE ? ESCAPE '!'"),
    "regexp": (NAME.regexp_match("^a"), "date_dim.d_day_name RLIKE ?"),
    "not regexp": (~NAME.regexp_match("^a"), "date_dim.d_day_name NOT RLIKE ?"),
    "regexp with flags": (NAME.regexp_match("^a", flags="i"), "date_dim.d_day_name RLIKE concat('(?i)', ?)"),
    "regexp replace": (
        NAME.regexp_replace("a", "b") == "c",
        "(regexp_replace(date_dim.d_day_name, ?, ?)) = ?",
    ),
    "regexp replace with flags": (
        NAME.regexp_replace("a", "b", flags="im") == "c",
        "(regexp_replace(date_dim.d_day_name, concat('(?im)', ?), ?)) = ?",
    ),
    "concat": (NAME + "x" == "y", "(date_dim.d_day_name || ?) = ?"),
    "modulo": (YEAR % 2 == 0, "date_dim.d_year % ? = ?"),
    "division": (YEAR / 2 == 0, "date_dim.d_year / ? = ?"),
    "whole division": (YEAR // 2 == 0, "FLOOR(date_dim.d_year / ?) = ?"),
    "bits": (YEAR.bitwise_xor(1) == 0, "date_dim.d_year ^ ? = ?"),
    "extract": (sa.extract("year", DAY) == 1, "EXTRACT(year FROM date_dim.d_date) = ?"),
    "day of the week": (sa.extract("isodow", DAY) == 1, "EXTRACT(DAYOFWEEK_ISO FROM date_dim.d_date) = ?"),
    "cast": (sa.cast(NAME, sa.Numeric(7, 2)) == 1, "CAST(date_dim.d_day_name AS DECIMAL(7, 2)) = ?"),
    "try cast": (sa.try_cast(NAME, sa.Integer) == 1, "TRY_CAST(date_dim.d_day_name AS INT) = ?"),
    "case": (sa.case((YEAR == 1, 2), else_=3) == 2, "CASE WHEN (date_dim.d_year = ?) THEN ? ELSE ? END = ?"),
    "between": (YEAR.between(1, 2), "date_dim.d_year BETWEEN ? AND ?"),
    "tuple": (
        sa.tuple_(YEAR, SK).in_(sa.select(SALES.c.sold_sk, SALES.c.price)),
        "(date_dim.d_year, date_dim.d_date_sk) IN (SELECT sales.sold_sk, sales.price FROM lake.shop.sales)",
    ),
    "collate": (sa.collate(NAME, "UTF8_LCASE") == "a", "(date_dim.d_day_name COLLATE `UTF8_LCASE`) = ?"),
}


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS.values(), ids=CONDITIONS)
def test_a_condition(condition: Any, expected: str) -> None:
    assert where(condition) == expected
    sqlglot.parse_one(f"SELECT 1 WHERE {expected}", dialect="spark")


def test_an_interval_is_a_text_that_is_cast() -> None:
    statement = sa.select(sa.func.now() - timedelta(days=7, seconds=1))
    made = statement.compile(dialect=SluiceDialect())
    assert str(made) == "SELECT now() - CAST(? AS INTERVAL DAY TO SECOND) AS anon_1"
    [(name, value)] = made.params.items()
    processors: Any = made._bind_processors
    assert processors[name](value) == "7 0:0:1.000000"


def test_lists_become_as_many_parameters_as_there_are_values() -> None:
    options = {"render_postcompile": True}
    assert compiled(sa.select(SK).where(YEAR.in_([1, 2])), **options).endswith("IN (?, ?)")
    assert compiled(sa.select(SK).where(YEAR.in_([])), **options).endswith("IN (NULL) AND (1 != 1)")
    pairs = sa.tuple_(YEAR, SK)
    assert compiled(sa.select(SK).where(pairs.in_([(1, 2), (3, 4)])), **options).endswith(
        "IN ((?, ?), (?, ?))"
    )
    # Spark compares a tuple only with one of the same types.
    assert compiled(sa.select(SK).where(pairs.in_([])), **options).endswith(
        "IN ((CAST(NULL AS INT), CAST(NULL AS BIGINT))) AND (1 != 1)"
    )


LITERALS: dict[str, tuple[Any, Any, str]] = {
    "text": ("it's", None, r"'it\'s'"),
    "backslash": (r"\d", None, r"'\\d'"),
    "backslash before a quote": ("\\' OR 1=1 --", None, r"'\\\' OR 1=1 --'"),
    "quotes alone": ("''", None, r"'\'\''"),
    "line end": ("a\nb", None, "'a b'"),
    "percent": ("100%", None, "'100%'"),
    "mark of a parameter": ("%(x)s", None, r"'\u0025(x)s'"),
    "mark of a list": ("__[POSTCOMPILE_x]", None, r"'\u005f_[POSTCOMPILE_x]'"),
    "question mark and colon": ("? :a", None, "'? :a'"),
    "enumeration": ("it's", sa.Enum("it's", native_enum=False), r"'it\'s'"),
    "number": (Decimal("1.50"), sa.Numeric(5, 2), "1.50"),
    "boolean": (True, None, "true"),
    "null": (None, sa.String(), "NULL"),
    "date": (date(2000, 1, 2), None, "DATE'2000-01-02'"),
    "moment": (datetime(2000, 1, 2, 3, tzinfo=UTC), None, "TIMESTAMP'2000-01-02 03:00:00+00:00'"),
    "local moment": (datetime(2000, 1, 2, 3), None, "TIMESTAMP_NTZ'2000-01-02 03:00:00'"),
    "bytes": (b"\x00\xff'", None, "X'00FF27'"),
    "interval": (timedelta(days=-1, hours=1), None, "INTERVAL '-0 23:0:0.000000' DAY TO SECOND"),
    "array": (
        ["it's", "\\d", None],
        sa.ARRAY(sa.String),
        r"CAST(array('it\'s', '\\d', NULL) AS ARRAY<STRING>)",
    ),
    "array of dates": ([date(2000, 1, 2)], sa.ARRAY(sa.Date), "CAST(array(DATE'2000-01-02') AS ARRAY<DATE>)"),
    "arrays in an array": (
        [[1], [], None],
        sa.ARRAY(sa.Integer, dimensions=2),
        "CAST(array(array(1), array(), NULL) AS ARRAY<ARRAY<INT>>)",
    ),
    "empty array": ([], sa.ARRAY(sa.Integer), "CAST(array() AS ARRAY<INT>)"),
    "map": ([("it's", 1)], MAP(sa.String, sa.Integer), r"CAST(map('it\'s', 1) AS MAP<STRING, INT>)"),
    "struct": (
        {"a `b`": "it's", "n": None},
        STRUCT([("a `b`", sa.String), ("n", sa.Integer)]),
        r"CAST(named_struct('a `b`', 'it\'s', 'n', NULL) AS STRUCT<`a ``b```: STRING, `n`: INT>)",
    ),
    "mark in a list": (["%(x)s"], sa.ARRAY(sa.String), r"CAST(array('\u0025(x)s') AS ARRAY<STRING>)"),
}


@pytest.mark.parametrize(("value", "kind", "expected"), LITERALS.values(), ids=LITERALS)
def test_a_literal(value: Any, kind: Any, expected: str) -> None:
    assert literal(value, kind) == expected


def test_a_dictionary_is_a_map_and_fields_that_it_lacks_are_null() -> None:
    assert literal({"a": 1}, MAP(sa.String, sa.Integer)) == "CAST(map('a', 1) AS MAP<STRING, INT>)"
    made = literal({}, STRUCT([("a", sa.Integer)]))
    assert made == "CAST(named_struct('a', NULL) AS STRUCT<`a`: INT>)"


def test_a_field_that_a_struct_does_not_have_is_refused() -> None:
    with pytest.raises(CompileError) as raised:
        literal({"b": 1}, STRUCT([("a", sa.Integer)]))
    assert str(raised.value.__cause__) == "the struct has no field 'b'"


def test_an_array_is_written_into_the_text_when_it_is_sent() -> None:
    made = (
        sa.insert(sa.table("t", sa.column("a", sa.ARRAY(sa.Integer))))
        .values(a=[1])
        .compile(dialect=SluiceDialect(), compile_kwargs={"render_postcompile": True})
    )
    assert str(made) == "INSERT INTO t (a) VALUES (CAST(array(1) AS ARRAY<INT>))"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain_1", "plain_1"),
        ("Mixed", "`Mixed`"),
        ("select", "`select`"),
        ("1st", "`1st`"),
        ("a b", "`a b`"),
        ("a`b", "`a``b`"),
        ("`; DROP TABLE t; --", "```; DROP TABLE t; --`"),
        ('a"b', '`a"b`'),
        ("a'b", "`a'b`"),
        ("a.b", "`a.b`"),
        ("a:b", "`a:b`"),
        ("a%b", "`a%b`"),
        ("a?", "`a?`"),
        ("dollar$", "`dollar$`"),
        ("\u017fmall", "`\u017fmall`"),
        ("naïve", "`naïve`"),
        ("", "``"),
    ],
)
def test_a_name(name: str, expected: str) -> None:
    assert compiled(sa.select(sa.column(name))) == f"SELECT {expected}"


@pytest.mark.parametrize("name", ["a\n", "\n", "a\nb", "a\x00b"])
def test_a_name_with_a_control_character_is_quoted_as_it_is(name: str) -> None:
    assert str(sa.select(sa.column(name)).compile(dialect=SluiceDialect())) == f"SELECT `{name}`"


@pytest.mark.parametrize("name", ["%(a_1)s", "x %(a_1)s", "__[POSTCOMPILE_a_1]", "__[SCHEMA_a]"])
def test_a_name_that_looks_like_a_mark_of_sqlalchemy_is_refused(name: str) -> None:
    statement: Any = sa.select(sa.column(name)).where(sa.column("a") == 1)
    with pytest.raises(CompileError, match="mark of SQLAlchemy"):
        compiled(statement)


@pytest.mark.parametrize("name", ["a?", "a:b", "100%", "%s", "(x)"])
def test_a_parameter_of_a_hostile_name_is_a_question_mark(name: str) -> None:
    made = (
        sa.select(sa.literal(1))
        .where(sa.column(name) == sa.bindparam(name, 5))
        .compile(dialect=SluiceDialect())
    )
    assert str(made).endswith(f"WHERE `{name}` = ?")
    assert made.positiontup is not None
    parameters = made.construct_params(escape_names=False)
    assert [parameters[key] for key in made.positiontup] == [1, 5]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("tpcds", "tpcds.t"),
        ("lake.tpcds", "lake.tpcds.t"),
        ("lake.shop.north", "lake.shop.north.t"),
        ("lake.a`b", "lake.`a``b`.t"),
        ("Lake.tpcds", "`Lake`.tpcds.t"),
        (quoted_name("a.b", quote=True), "`a.b`.t"),
    ],
)
def test_a_schema_may_have_its_catalog_before_it(schema: str, expected: str) -> None:
    table = sa.table("t", sa.column("c"), schema=schema)
    assert compiled(sa.select(table.c.c)) == f"SELECT t.c FROM {expected}"


def test_tables_of_one_name_are_told_apart_by_their_schemas() -> None:
    ours, theirs = (
        sa.table("T" if schema == "b" else "t", sa.column("c"), schema=schema) for schema in ("a", "b")
    )
    assert compiled(sa.select(ours.c.c).where(ours.c.c == theirs.c.c)) == (
        "SELECT a.t.c FROM a.t, b.`T` WHERE a.t.c = b.`T`.c"
    )
    inner = sa.select(theirs.c.c).where(theirs.c.c == ours.c.c).exists()
    assert compiled(sa.select(ours.c.c).where(inner)) == (
        "SELECT t.c FROM a.t WHERE EXISTS (SELECT b.`T`.c FROM b.`T` WHERE b.`T`.c = a.t.c)"
    )
    assert compiled(sa.select(ours.c.c).join(theirs.alias("x"), sa.true())) == (
        "SELECT t.c FROM a.t JOIN b.`T` AS x ON true"
    )


def test_schemas_may_be_translated() -> None:
    table = sa.Table("t", sa.MetaData(), sa.Column("c"), schema="a")
    made = sa.select(table.c.c).compile(
        dialect=SluiceDialect(), schema_translate_map={"a": "lake.New"}, render_schema_translate=True
    )
    assert " ".join(str(made).split()) == "SELECT t.c FROM lake.`New`.t"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (sa.select(SK).fetch(3, with_ties=True), "ties"),
        (sa.select(SK).fetch(3, percent=True), "percentage"),
        (sa.select(SK).where(NAME.regexp_match("a", flags="i)")), "letters"),
        (sa.select(sa.extract("year FROM x) --", DAY)), "word"),
        (sa.update(DAYS).where(SALES.c.sold_sk == SK).values(d_year=1), "one table"),
        (sa.delete(DAYS).where(SALES.c.sold_sk == SK), "one table"),
        (sa.insert(DAYS).values(d_year=1).returning(SK), "RETURNING"),
        (sa.select(sa.Sequence("s").next_value()), "sequences"),
    ],
    ids=["ties", "percent", "flags", "field", "update", "delete", "returning", "sequence"],
)
def test_what_spark_does_not_have_is_refused(statement: Any, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        compiled(statement)


def test_statements_that_differ_in_values_alone_have_one_text_in_the_cache() -> None:
    made = [
        sa.select(SK).where(NAME.regexp_match(text, flags="i")).limit(number)
        for text, number in (("a", 1), ("b", 2))
    ]
    keys = [statement._generate_cache_key() for statement in made]
    assert keys[0] is not None
    assert keys[1] is not None
    assert keys[0].key == keys[1].key
    other = sa.select(SK).where(NAME.regexp_match("a", flags="m")).limit(1)._generate_cache_key()
    assert other is not None
    assert other.key != keys[0].key


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ("b", "a")])
def test_fields_of_a_struct_have_texts_of_their_own_in_the_cache(first: str, second: str) -> None:
    column = sa.column("s", STRUCT([("a", sa.Integer), ("b", sa.Integer)]))
    keys = [sa.select(column[name])._generate_cache_key() for name in (first, second)]
    assert keys[0] is not None
    assert keys[1] is not None
    assert keys[0].key != keys[1].key
