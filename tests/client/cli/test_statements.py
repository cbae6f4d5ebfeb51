"""Tests how a text is cut into statements."""

from __future__ import annotations

import pytest

from sluice_client.cli.exits import WrongUsage
from sluice_client.cli.query_parameters import query_parameters
from sluice_client.cli.statements import is_finished, statements_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" ;; ; ", []),
        ("-- only a comment", []),
        ("/* only /* nested */ ; */ ;", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1; SELECT 2;", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';' ; SELECT 2", ["SELECT ';'", "SELECT 2"]),
        (r"SELECT '\';' ; SELECT 2", [r"SELECT '\';'", "SELECT 2"]),
        ("SELECT 'it''s;' ; SELECT 2", ["SELECT 'it''s;'", "SELECT 2"]),
        ('SELECT "a;b" ; SELECT 2', ['SELECT "a;b"', "SELECT 2"]),
        ("SELECT `a;b` ; SELECT 2", ["SELECT `a;b`", "SELECT 2"]),
        ("SELECT `a``;b` ; SELECT 2", ["SELECT `a``;b`", "SELECT 2"]),
        (r"SELECT r'\' ; SELECT 2", [r"SELECT r'\'", "SELECT 2"]),
        (r"SELECT bar'\';' ; SELECT 2", [r"SELECT bar'\';'", "SELECT 2"]),
        ("SELECT 1 -- one;\n+ 2; SELECT 3", ["SELECT 1 -- one;\n+ 2", "SELECT 3"]),
        ("SELECT /* ; /* ; */ ; */ 1; SELECT 2", ["SELECT /* ; /* ; */ ; */ 1", "SELECT 2"]),
        ("SELECT $$a;b$$; SELECT $t$;$$;$t$", ["SELECT $$a;b$$", "SELECT $t$;$$;$t$"]),
        ("SELECT 'without an end; SELECT 2", ["SELECT 'without an end; SELECT 2"]),
        ("SELECT /* without an end; SELECT 2", ["SELECT /* without an end; SELECT 2"]),
        ("SELECT 1 -- one;\r+ 2; SELECT 3", ["SELECT 1 -- one;\r+ 2", "SELECT 3"]),
        ("SELECT 5 - -3; SELECT 2", ["SELECT 5 - -3", "SELECT 2"]),
    ],
)
def test_a_text_is_cut_at_semicolons_outside_of_quotes_and_comments(text: str, expected: list[str]) -> None:
    assert [statement.sql for statement in statements_of(text)] == expected


def test_a_statement_knows_its_line() -> None:
    found = statements_of("-- first\n\nSELECT 1;\n\n  SELECT\n 2;SELECT 3")
    assert [(statement.sql.split()[-1], statement.first_line) for statement in found] == [
        ("1", 1),
        ("2", 5),
        ("3", 6),
    ]


def test_many_statements_take_no_time_that_grows_with_their_square() -> None:
    assert len(statements_of("SELECT 'a' /* b */ -- c\n;\n" * 50_000)) == 50_000


@pytest.mark.parametrize(
    ("text", "is_done"),
    [
        ("", True),
        ("\\d item", True),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT 1; -- done", True),
        ("SELECT 1; SELECT 2", False),
        ("SELECT ';", False),
        ("SELECT /* ;", False),
    ],
)
def test_enter_ends_an_input_whose_last_statement_has_its_semicolon(text: str, is_done: bool) -> None:
    assert is_finished(text) is is_done


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n=1", 1),
        ("n=-1", -1),
        ("n=true", True),
        ("n=null", None),
        ('n="1"', "1"),
        ("n=", ""),
        ("n=a=b", "a=b"),
        ("n=NaN", "NaN"),
        ("n=[1]", "[1]"),
        ("n={}", "{}"),
        ("n=1e3", 1000.0),
        ("n=1e999", "1e999"),
        ("n=" + "[" * 100_000, "[" * 100_000),
        ("n:DATE=2000-01-01", {"value": "2000-01-01", "type": "DATE"}),
        ("n:DECIMAL(9,2)=1.50", {"value": "1.50", "type": "DECIMAL(9,2)"}),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_parameter_is_json_or_text_or_has_a_type(text: str, value: object) -> None:
    assert query_parameters([text]) == {"n": value}


@pytest.mark.parametrize("text", ["n", "=1", ":INT=1", "n:=1", ""])
def test_a_parameter_without_a_name_is_wrong(text: str) -> None:
    with pytest.raises(WrongUsage):
        query_parameters([text])
