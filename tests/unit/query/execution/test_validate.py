"""A text is one statement within the size bound, whatever its strings, names and comments contain."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors.statement_errors import SqlEmpty, SqlManyStatements, SqlTooLarge
from service.query.execution.validate import validate

BOUND = 2_000_000

ONE = [
    "SELECT 1",
    "SELECT 1;",
    " \n SELECT 1 ;; ; \n",
    "SELECT 1; -- and that was all; really",
    "SELECT 1 -- one; two",
    "SELECT /* a; /* nested; */ b; */ 1",
    "SELECT ';', \"a;b\", `c;d` FROM t",
    r"SELECT 'it\'s; fine'",
    "SELECT 'it''s; fine'",
    r"SELECT r'\; raw'",
    "SELECT X'3B'",
    "SELECT '-- no comment', 1",
    "SELECT /*+ BROADCAST(a) */ 1",
    "SELECT '${a;b}'",
    "SELECT 'größer; 😀'",
]
MANY = [
    "SELECT 1; SELECT 2",
    "SELECT 1;SELECT 2;",
    "SELECT ';' ; SELECT 2",
    "/* ; */ SELECT 1; /* ; */ SELECT 2",
    "SELECT 1;; ;DROP TABLE t",
    "SELECT 1 -- one\n; SELECT 2",
    r"SELECT r'\'; SELECT 2",
]
EMPTY = ["", "   \n\t", ";", " ; ;; ", "-- nothing", "/* nothing; */", "-- a\n;\n/* b */;"]
NOT_TOKENS = ["SELECT 'open", "SELECT `open", "SELECT 1 /* open", 'SELECT "open; SELECT 2']

STATEMENTS = st.sampled_from([text.rstrip("; \n") for text in ONE if "--" not in text])


@pytest.mark.parametrize("sql", ONE)
def test_one_statement_passes(sql: str) -> None:
    validate(sql, BOUND)


@pytest.mark.parametrize("sql", MANY)
def test_a_second_statement_is_refused(sql: str) -> None:
    with pytest.raises(SqlManyStatements):
        validate(sql, BOUND)


@pytest.mark.parametrize("sql", EMPTY)
def test_blanks_and_comments_are_no_statement(sql: str) -> None:
    with pytest.raises(SqlEmpty):
        validate(sql, BOUND)


@pytest.mark.parametrize("sql", NOT_TOKENS)
def test_what_cannot_be_cut_into_tokens_is_left_to_the_engine(sql: str) -> None:
    validate(sql, BOUND)


@settings(deadline=None)
@given(st.lists(STATEMENTS, min_size=2, max_size=5), st.sampled_from([";", " ; ", ";\n;", "; -- next\n"]))
def test_any_text_of_several_statements_is_refused(statements: list[str], separator: str) -> None:
    with pytest.raises(SqlManyStatements):
        validate(separator.join(statements), BOUND)


@settings(deadline=None)
@given(STATEMENTS, st.text(alphabet="; \n\t", max_size=5))
def test_whatever_blanks_and_semicolons_end_it_one_statement_stays_one(sql: str, end: str) -> None:
    validate(sql + end, BOUND)


def test_the_bound_counts_bytes_and_is_itself_allowed() -> None:
    validate("SELECT 'ü'", max_bytes=11)
    with pytest.raises(SqlTooLarge, match="has 11 bytes; this gateway accepts 10"):
        validate("SELECT 'ü'", max_bytes=10)


def test_a_megabyte_is_no_obstacle() -> None:
    validate(f"SELECT '{'x;' * 500_000}'", BOUND)
    with pytest.raises(SqlManyStatements):
        validate(f"SELECT '{'x;' * 500_000}'; SELECT 2", BOUND)


def test_a_text_over_the_bound_is_not_even_read() -> None:
    with pytest.raises(SqlTooLarge):
        validate("'" * 5_000_000, BOUND)
