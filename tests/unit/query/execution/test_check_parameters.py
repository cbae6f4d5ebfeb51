"""Parameter values and their places in the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors.statement_errors import ParameterMissing, ParameterUnused
from service.model.query.query import Parameter
from service.query.execution.check_parameters import check_parameters

NAMED = [
    "SELECT :year",
    "SELECT :year::INT",
    "SELECT : year",
    "SELECT :`year`",
    "SELECT a FROM t WHERE b=:year AND c > :year",
    "SELECT ':other', :year -- :other",
    "SELECT v:year",
]
NOT_NAMED = [
    "SELECT 1",
    "SELECT ':year'",
    'SELECT ":year"',
    "SELECT `:year`",
    "SELECT 1 -- :year",
    "SELECT /* :year */ 1",
    "SELECT :YEAR",
    "SELECT :years",
    "SELECT a::year",
]
POSITIONAL = [
    ("SELECT 1", 0),
    ("SELECT ?", 1),
    ("SELECT ?, '?', \"?\", `?` -- ?", 1),
    ("SELECT ?::INT", 1),
    ("SELECT /* ? */ a FROM t WHERE b = ? AND c IN (?,?)", 3),
]


@pytest.mark.parametrize("sql", NAMED)
def test_a_named_value_finds_its_place(sql: str) -> None:
    check_parameters(sql, {"year": Parameter(2000)})


@pytest.mark.parametrize("sql", NOT_NAMED)
def test_a_named_value_without_a_place_is_refused_by_its_name(sql: str) -> None:
    with pytest.raises(ParameterUnused, match=":year"):
        check_parameters(sql, {"year": Parameter(2000)})


@pytest.mark.parametrize("name", ["date", "select", "interval", "from", "1"])
def test_keywords_are_names_too(name: str) -> None:
    check_parameters(f"SELECT :{name}", {name: Parameter(1)})


@pytest.mark.parametrize(("sql", "count"), POSITIONAL)
def test_as_many_positional_values_as_places_pass(sql: str, count: int) -> None:
    check_parameters(sql, (Parameter(1),) * count)


@pytest.mark.parametrize(("sql", "count"), POSITIONAL)
def test_one_positional_value_too_many_is_refused(sql: str, count: int) -> None:
    with pytest.raises(ParameterUnused, match=f"has {count} positional parameters; {count + 1} values"):
        check_parameters(sql, (Parameter(1),) * (count + 1))


@settings(deadline=None)
@given(st.integers(1, 20), st.data())
def test_too_few_positional_values_are_refused(places: int, data: st.DataObject) -> None:
    values = data.draw(st.integers(0, places - 1))
    with pytest.raises(ParameterMissing):
        check_parameters(f"SELECT {', '.join('?' * places)}", (Parameter(1),) * values)


def test_positional_values_do_not_fill_named_places() -> None:
    with pytest.raises(ParameterUnused):
        check_parameters("SELECT :year", (Parameter(2000),))


def test_a_missing_named_value_is_left_to_the_engine() -> None:
    check_parameters("SELECT :year, :month", {"year": Parameter(2000)})
    check_parameters("SELECT :year", {})


def test_what_cannot_be_cut_into_tokens_is_left_to_the_engine() -> None:
    check_parameters("SELECT 'open", {"year": Parameter(2000)})


def test_a_megabyte_is_no_obstacle() -> None:
    check_parameters(f"SELECT '{':x ?' * 250_000}', :year", {"year": Parameter(2000)})
