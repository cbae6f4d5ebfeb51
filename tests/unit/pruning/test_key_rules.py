"""How keys are collected and combined, and over which joins a filter reaches a key."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from sqlglot import exp, parse_one

from service.model.filters.dynamic_filter import JoinType, KeySpan, Probe
from service.model.filters.filter_record import Reason
from service.model.filters.joins import Candidate, ColumnOf, JoinGraph
from service.pruning.build_side.composite_keys import MAX_COLUMNS, FoundKey, composite_keys
from service.pruning.candidates.key_plan import KeyPlan, key_plan
from service.pruning.join_graph.join_paths import MAX_TABLES, paths_to, reached
from tests.fakes.filters import SALES


def joined(*pairs: str) -> JoinGraph:
    """Builds a join graph of relations such as `a` and `b`; the pair `ab` is an equality of the two."""
    equalities = tuple((ColumnOf(pair[0], "k"), ColumnOf(pair[1], "k")) for pair in pairs)
    return JoinGraph({}, frozenset(), (), equalities, ())


GRAPH = joined("fd")
CANDIDATE = Candidate(JoinType.INNER, ColumnOf("f", "k"), ColumnOf("d", "k"), frozenset(), GRAPH)


def planned(
    probe: str, build: str, probe_key: str | None = None, build_key: str | None = None
) -> KeyPlan | Reason:
    def tree(text: str | None) -> exp.Expr | None:
        return None if text is None else parse_one(text, read="spark")

    candidate = replace(CANDIDATE, probe_key=tree(probe_key), build_key=tree(build_key))
    return key_plan(candidate, probe, build, is_utc=True)


def test_keys_of_one_family_are_taken_as_they_stand() -> None:
    assert planned("long", "int") == KeyPlan("long", KeySpan.VALUE, None, None, is_plain=True)


def test_keys_of_another_type_are_cast_by_the_engine() -> None:
    assert planned("int", "string") == KeyPlan("long", KeySpan.VALUE, None, "BIGINT", is_plain=False)


def test_the_day_of_a_moment_is_all_its_moments() -> None:
    found = planned("timestamp", "date", probe_key="to_date(k)")
    assert found == KeyPlan("date", KeySpan.DAY, None, None, is_plain=False)


def test_what_the_build_side_computes_is_collected() -> None:
    found = planned("int", "int", build_key="k + 1")
    assert isinstance(found, KeyPlan)
    assert (found.expression, found.is_plain) == (parse_one("k + 1", read="spark"), False)


@pytest.mark.parametrize(
    ("probe", "build", "probe_key", "build_key", "reason"),
    [
        ("int", "int", "k + 1", None, Reason.KEY_IS_COMPUTED),
        ("int", "int", None, "k / 2", Reason.KEY_IS_COMPUTED),
        ("string", "string", "CAST(k AS STRING COLLATE UTF8_LCASE)", None, Reason.KEY_IS_COMPUTED),
        ("string", "string", None, "k COLLATE UTF8_LCASE", Reason.KEY_IS_COMPUTED),
        ("string", "int", None, None, Reason.TYPE_NOT_CONVERTIBLE),
        ("double", "double", None, None, Reason.TYPE_NOT_CONVERTIBLE),
        ("char(3)", "char(3)", None, None, Reason.TYPE_NOT_CONVERTIBLE),
        ("string", "string collate UTF8_LCASE", None, None, Reason.TYPE_NOT_CONVERTIBLE),
        ("array<int>", "array<int>", None, None, Reason.TYPE_NOT_CONVERTIBLE),
    ],
)
def test_without_a_plan_there_is_a_reason(
    probe: str, build: str, probe_key: str | None, build_key: str | None, reason: Reason
) -> None:
    assert planned(probe, build, probe_key, build_key) is reason


# ---- tuples ------------------------------------------------------------------------------------


def found_key(
    column: str, build: str = "d.k", join_type: JoinType = JoinType.INNER, end: int = 7
) -> FoundKey:
    relation, name = build.split(".")
    candidate = replace(CANDIDATE, build=ColumnOf(relation, name), join_type=join_type)
    return FoundKey(candidate, Probe(SALES, (column,), ("int",), 1), candidate.build, GRAPH, frozenset(), end)


def together(*found: FoundKey) -> list[list[str]]:
    return [[key.probe.columns[0] for key in keys] for keys in composite_keys(found)]


def test_columns_that_equal_columns_of_one_row_belong_together() -> None:
    assert together(found_key("a", "d.k"), found_key("b", "d.j")) == [["a", "b"]]
    semi = JoinType.LEFT_SEMI
    assert together(found_key("a", "d.k", semi), found_key("b", "d.j", semi)) == [["a", "b"]]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(found_key("b", "e.j"), id="another relation's row"),
        pytest.param(found_key("b", "d.j", end=70), id="another scan"),
        pytest.param(found_key("b", "d.j", JoinType.LEFT_SEMI), id="a row that another join asks for"),
        pytest.param(replace(found_key("b", "d.j"), graph=joined("fd")), id="another SELECT's"),
        pytest.param(replace(found_key("b", "d.j"), allowed=frozenset({"e"})), id="keys from elsewhere"),
        pytest.param(found_key("a", "d.j"), id="the same column again"),
    ],
)
def test_those_of_different_rows_do_not(other: FoundKey) -> None:
    assert together(found_key("a", "d.k"), other) == []


@pytest.mark.parametrize("join_type", [JoinType.LEFT_OUTER, JoinType.RIGHT_OUTER])
def test_what_outer_joins_ask_may_be_asked_by_different_ones(join_type: JoinType) -> None:
    assert together(found_key("a", "d.k", join_type), found_key("b", "d.j", join_type)) == []


def test_tuples_have_a_bounded_number_of_columns() -> None:
    columns = [chr(ord("a") + number) for number in range(MAX_COLUMNS + 2)]
    assert together(*map(found_key, columns)) == [columns[:MAX_COLUMNS]]


# ---- paths -------------------------------------------------------------------------------------


def test_each_relation_is_reached_on_the_shortest_way() -> None:
    found = reached(joined("ab", "bc", "cd", "ad", "xy"), "a", frozenset("bcdxy"))
    assert found == {"a": None, "b": "a", "d": "a", "c": "b"}


def test_no_way_leads_over_what_is_not_allowed() -> None:
    assert reached(joined("ab", "bc"), "a", frozenset("c")) == {"a": None}


def test_a_path_has_all_that_lies_between() -> None:
    parents = reached(joined("ab", "bc", "ad"), "a", frozenset("bcd"))
    assert paths_to({"c"}, parents) == {"a", "b", "c"}
    assert paths_to({"c", "d"}, parents) == {"a", "b", "c", "d"}
    assert paths_to(frozenset(), parents) == frozenset()


def test_what_is_too_far_away_is_left_out_and_what_is_near_is_not() -> None:
    chain = "abcdefghij"
    parents = reached(joined(*map("".join, pairwise(chain))), "a", frozenset(chain))
    assert paths_to({chain[MAX_TABLES - 1]}, parents) == set(chain[:MAX_TABLES])
    assert paths_to({chain[MAX_TABLES]}, parents) == frozenset()
    assert paths_to({"b", chain[MAX_TABLES]}, parents) == {"a", "b"}
