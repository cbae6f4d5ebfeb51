"""Spark's failures as sentences. Failures that need a JVM are tested on the real engine."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import AnalysisException, ParseException, PySparkException, SparkRuntimeException

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryFailed, ResultTooLarge
from service.errors.statement_errors import ColumnNotFound, ParameterMissing, SqlInvalid, SqlSyntaxError
from service.errors.table_errors import TableNotFound
from spark_session.spark_errors import in_gateway_terms, position_in, sentence, unquoted

SENTENCES = [
    (
        "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012\n== SQL (line 1, position 8) ==",
        "Division by zero.",
    ),
    ("[A.B_C2] One sentence.", "One sentence."),
    (
        "[CAST_INVALID_INPUT] The value 'x' cannot be cast. Correct it, or use `try_cast`. If necessary set "
        '"spark.sql.ansi.enabled" to "false" to bypass this error. SQLSTATE: 22018',
        "The value 'x' cannot be cast. Correct it, or use `try_cast`.",
    ),
    ('Consider to set the SQL config "spark.sql.catalog.x" to a plugin.', "The query failed."),
    ("No code at all.", "No code at all."),
    (
        "[UNRESOLVED_COLUMN] No column `a`. SQLSTATE: 42703; line 1 pos 7;\n'Project ['a]\n",
        "No column `a`.",
    ),
    ("Job aborted;\n\tat org.apache.spark.Scheduler.run(Scheduler.scala:1)", "Job aborted"),
    ("[CODE] [1, 2] is no map.", "[1, 2] is no map."),
    ("", "The query failed."),
    ("[CODE] ", "The query failed."),
    ("\n\tat java.lang.Thread.run", "The query failed."),
]
POSITIONS = [
    ("Syntax error at or near 'x'. SQLSTATE: 42601 (line 2, pos 0)", (2, 1)),
    ("No column. SQLSTATE: 42703; line 1 pos 7;\n'Project", (1, 8)),
    ("Division by zero.\n== SQL (line 3, position 8) ==", (3, 8)),
    ("the line 4 of the text", (None, None)),
    ("", (None, None)),
]
NAMES = [
    ("`lake`.`tpcds`.`item`", "lake.tpcds.item"),
    ("`odd``name`", "odd`name"),
    ("`with.dot`", "with.dot"),
    ("plain", "plain"),
    ("", ""),
]


def spark_error(
    kind: type[PySparkException], message: str, condition: str | None = None, **parameters: str
) -> PySparkException:
    return kind(message, errorClass=condition, messageParameters=parameters)


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_a_sentence_ends_where_the_aids_for_developers_begin(text: str, expected: str) -> None:
    assert sentence(text) == expected


@settings(deadline=None)
@given(st.text())
def test_whatever_spark_says_is_one_line_and_never_empty(text: str) -> None:
    assert sentence(text)
    assert "\n" not in sentence(text)


@pytest.mark.parametrize(("text", "expected"), POSITIONS)
def test_positions_count_from_one(text: str, expected: tuple[int | None, int | None]) -> None:
    assert position_in(text) == expected


@pytest.mark.parametrize(("name", "expected"), NAMES)
def test_names_are_written_as_people_write_them(name: str, expected: str) -> None:
    assert unquoted(name) == expected


@settings(deadline=None)
@given(st.text(min_size=1))
def test_quoting_a_name_is_undone(name: str) -> None:
    assert unquoted("`" + name.replace("`", "``") + "`") == name


def test_a_syntax_error_knows_its_place() -> None:
    failure = spark_error(
        ParseException, "Syntax error at or near 'x'. (line 2, pos 4)\n\n== SQL ==\n…", "PARSE_SYNTAX_ERROR"
    )
    error = in_gateway_terms(failure)
    assert isinstance(error, SqlSyntaxError)
    assert (error.line, error.column) == (2, 5)
    assert "==" not in error.detail


def test_an_unknown_table_is_named_without_quotes() -> None:
    failure = spark_error(
        AnalysisException,
        "The table or view `a`.`b` cannot be found.",
        "TABLE_OR_VIEW_NOT_FOUND",
        relationName="`a`.`b`",
    )
    error = in_gateway_terms(failure)
    assert isinstance(error, TableNotFound)
    assert (error.table, error.nearest) == ("a.b", ())


def test_an_unknown_column_brings_at_most_three_of_sparks_proposals() -> None:
    failure = spark_error(
        AnalysisException,
        "A column `d_yaer` cannot be resolved; line 1 pos 7;\n'Project",
        "UNRESOLVED_COLUMN.WITH_SUGGESTION",
        objectName="`d_yaer`",
        proposal="`d_year`, `d_moy`, `t`.`d_dom`, `d_qoy`",
    )
    error = in_gateway_terms(failure)
    assert isinstance(error, ColumnNotFound)
    assert (error.column_name, error.nearest) == ("d_yaer", ("d_year", "d_moy", "t.d_dom"))
    assert (error.line, error.column) == (1, 8)


def test_an_unknown_column_without_proposals_has_none() -> None:
    failure = spark_error(AnalysisException, "No.", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", objectName="`a`")
    error = in_gateway_terms(failure)
    assert isinstance(error, ColumnNotFound)
    assert error.nearest == ()


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (spark_error(AnalysisException, "No.", "UNBOUND_SQL_PARAMETER", name="year"), ParameterMissing),
        (spark_error(AnalysisException, "No.", "DATATYPE_MISMATCH.X"), SqlInvalid),
        (spark_error(AnalysisException, "No."), SqlInvalid),
        (spark_error(SparkRuntimeException, "No.", "DIVIDE_BY_ZERO"), QueryFailed),
        (spark_error(SparkRuntimeException, "… bigger than spark.driver.maxResultSize …"), ResultTooLarge),
        (spark_error(PySparkException, "No."), QueryFailed),
    ],
)
def test_every_other_failure_has_its_kind(failure: PySparkException, expected: type[GatewayError]) -> None:
    assert type(in_gateway_terms(failure)) is expected
