"""Tests the listings behind the metadata calls of drivers."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bootstrap.settings import Settings
from api.sql_protocols.listing import KeyColumn, NamePatterns
from api.sql_protocols.patterns import exact, like, plain_name
from service.errors.query_errors import ResultTooLarge
from service.model.tables.contents import RelationKind, SchemaEntry
from service.model.tables.tables import TableName
from tests.fakes.contents import FakeContents
from tests.unit.api.sql_protocols.conftest import KIM, Parts, parts_of

VIEW = TableName("lake", "tpcds", "returns_by_year")


@pytest.fixture
def parts() -> Parts:
    made = parts_of(Settings(default_schema="tpcds", max_listed_entries=100))
    made.gateway.contents = FakeContents(
        [SchemaEntry("lake", "tpcds", "demo"), SchemaEntry("lake", "empty")], [VIEW]
    )
    return made


def test_catalogs_are_found_by_name(parts: Parts) -> None:
    assert parts.listing.catalogs(KIM) == ["lake"]
    assert parts.listing.catalogs(KIM, "") == ["lake"]
    assert parts.listing.catalogs(KIM, "other") == []


def test_empty_schemas_are_listed(parts: Parts) -> None:
    assert [entry.schema for entry in parts.listing.schemas(KIM, NamePatterns())] == ["empty", "tpcds"]
    assert [entry.schema for entry in parts.listing.schemas(KIM, NamePatterns(schema="TP%"))] == ["tpcds"]
    assert parts.listing.schemas(KIM, NamePatterns(catalog="other")) == []


def test_tables_and_views_are_listed_by_pattern_and_kind(parts: Parts) -> None:
    both = parts.listing.relations(KIM, NamePatterns(schema="tpcds", table="%return%"))
    assert [(entry.name.table, entry.kind) for entry in both] == [
        ("returns_by_year", RelationKind.VIEW),
        ("store_returns", RelationKind.TABLE),
    ]
    views = parts.listing.relations(KIM, NamePatterns(), {RelationKind.VIEW})
    assert [entry.name for entry in views] == [VIEW]


def test_columns_are_listed_with_their_positions(parts: Parts) -> None:
    found = parts.listing.columns(KIM, NamePatterns(table="store\\_returns", column="SR%"))
    assert [(listed.position, listed.column.name) for listed in found] == [(1, "sr_returned_date_sk")]


def test_keys_are_found_by_names_that_are_no_patterns(parts: Parts) -> None:
    assert parts.listing.key_columns(KIM, "store_returns") == []
    parts.gateway.identifier_fields = ("sr_returned_date_sk",)
    key = [KeyColumn(TableName("lake", "tpcds", "store_returns"), 1, "sr_returned_date_sk")]
    assert parts.listing.key_columns(KIM, "store_returns") == key
    assert parts.listing.key_columns(KIM, "store_returns", "tpcds", "lake") == key
    for asked in ("store%", "storexreturns", "returns_by_year", ""):
        assert parts.listing.key_columns(KIM, asked) == []
    assert parts.listing.key_columns(KIM, "store_returns", "tpc%") == []
    assert parts.listing.key_columns(KIM, "store_returns", None, "other") == []


def test_a_list_that_is_too_long_is_an_error_and_not_cut(parts: Parts) -> None:
    parts.gateway.contents = FakeContents(
        [SchemaEntry("lake", "tpcds")], [TableName("lake", "tpcds", f"v{number}") for number in range(101)]
    )
    with pytest.raises(ResultTooLarge):
        parts.listing.relations(KIM, NamePatterns())


names = st.text(st.sampled_from("ab_%*.\\A"), max_size=8)


@given(pattern=names, name=names)
def test_patterns_match_as_a_search_by_hand_does(pattern: str, name: str) -> None:
    assert bool(like(pattern or "%").fullmatch(name)) == _matches(pattern or "%", name)


@given(name=names)
def test_a_plain_name_matches_only_itself(name: str) -> None:
    assert plain_name(exact(name)) == (name or None)
    assert like(exact(name)).fullmatch(name)


def test_a_hostile_pattern_ends() -> None:
    began_s = time.perf_counter()
    assert not like("%a" * 500 + "%b_").fullmatch("a" * 255)
    assert time.perf_counter() - began_s < 20


def _matches(pattern: str, name: str) -> bool:
    """The definition, by recursion."""
    if not pattern:
        return not name
    if pattern[0] in "%*" or pattern.startswith(".*"):
        rest = pattern[2 if pattern[0] == "." else 1 :]
        return _matches(rest, name) or (bool(name) and _matches(pattern, name[1:]))
    if pattern[0] == "_":
        return bool(name) and _matches(pattern[1:], name[1:])
    wanted, rest = (
        (pattern[1], pattern[2:]) if pattern[0] == "\\" and pattern[1:] else (pattern[0], pattern[1:])
    )
    return bool(name) and name[0].lower() == wanted.lower() and _matches(rest, name[1:])
