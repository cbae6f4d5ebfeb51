"""The keys of texts and of results are equal only for equal questions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors.policy_errors import TableAccessDenied
from service.errors.table_errors import ViewChanged
from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS
from service.model.policies.policies import ColumnMask, DefinerView, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.query.query import Parameter, QueryRequest
from service.model.query.reuse import PlanReads, QueryFacts, Reusability, ReuseChoice, TableRead
from service.model.tables.tables import TableFacts, TableName, TableSource
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.query.reuse.names_a_moment import names_a_moment
from service.query.reuse.normalized_text import normalized_text
from service.query.reuse.result_key import TextKey, policy_fingerprint, result_key
from service.query.reuse.table_states import has_read, has_these_columns, table_state
from tests.fakes.catalogs import facts_of_empty_table
from tests.fakes.reuse import read_plan

SALES, ITEM = TableName("lake", "shop", "sales"), TableName("lake", "shop", "item")
OUTER, INNER = TableName("lake", "shop", "outer"), TableName("lake", "shop", "inner")

# ---- texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT 1", " SELECT\n\t1 ; "),
        ("SELECT 1", "SELECT 1 -- of a panel"),
        ("SELECT 1", "/* panel 7 */ SELECT /* it's */ 1"),
        ("SELECT 'a  b' FROM t", "SELECT   'a  b'\r\nFROM t;;"),
        ("SELECT a FROM t", "SELECT a -- ' open\nFROM t"),
    ],
)
def test_blanks_and_comments_make_no_difference(one: str, other: str) -> None:
    assert normalized_text(one) == normalized_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT 'a b'", "SELECT 'a  b'"),
        ("SELECT 'a -- b'", "SELECT 'a"),
        ('SELECT "a b" FROM t', 'SELECT "a  b" FROM t'),
        ("SELECT `a b` FROM t", "SELECT `a  b` FROM t"),
        ("SELECT a FROM t", "SELECT A FROM t"),
        ("SELECT a b", "SELECT ab"),
        ("SELECT 'it''s'", "SELECT 'it' 's'"),
        ("SELECT /*+ BROADCAST(t) */ 1", "SELECT 1"),
        ("SELECT 1 -- a\n + 2", "SELECT 1 -- a + 2"),
        ("SELECT '/*' AS a, '*/'", "SELECT '"),
        (r"SELECT '\'  -- a'", r"SELECT '\' -- a'"),
        ("SELECT 'open  ", "SELECT 'open "),
        ("SELECT /* a /* b */ 1 */", "SELECT 1 */"),
    ],
)
def test_other_texts_stay_different(one: str, other: str) -> None:
    assert normalized_text(one) != normalized_text(other)


PIECES = ["'", '"', "`", "--", "/*", "*/", "/*+", "\n", "\r", " ", "  ", "\t", "a", "B", "1", ",", ";", "\\"]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_a_normalized_text_stays_as_it_is(sql: str) -> None:
    once = normalized_text(sql)
    assert normalized_text(once) in (once, once.strip(" ;"))


@given(st.lists(st.sampled_from(["'a  b'", '"c  d"', "`e  f`", "g", "H", "1", ",", "(", ")"]), max_size=12))
def test_what_is_quoted_is_never_changed(pieces: list[str]) -> None:
    text = normalized_text(" \n -- x\n /* y */ ".join(pieces))
    assert text == " ".join(pieces)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT DATE'today'",
        "x > ' Yesterday '",
        "now()",
        "TIMESTAMP 'NOW UTC'",
        r"date '\u0074oday'",
        "'tomorrow'",
        "TIMESTAMP'10:00'",
        'timestamp_ltz " T9:30:15"',
        "VALUES (to_timestamp('23:59'))",
    ],
)
def test_a_text_may_name_a_moment(text: str) -> None:
    assert names_a_moment(text)


@pytest.mark.parametrize(
    "text",
    [
        *("SELECT known", "SELECT todays", r"LIKE '%\_x'", "DATE'2020-01-01'", "slot = '10:00'"),
        "TIMESTAMP'2020-01-01 10:00'",
    ],
)
def test_other_texts_name_none(text: str) -> None:
    assert not names_a_moment(text)


REQUESTS = st.builds(
    QueryRequest,
    sql=st.sampled_from(["SELECT 1", "SELECT 2"]),
    parameters=st.one_of(
        st.dictionaries(
            st.sampled_from(["a", "b"]),
            st.builds(Parameter, st.sampled_from([1, "1", True, None, 1.0]), st.sampled_from([None, "INT"])),
            max_size=2,
        ),
        st.lists(st.builds(Parameter, st.sampled_from([1, "1"])), max_size=2).map(tuple),
    ),
    catalog=st.sampled_from([None, "lake"]),
    schema=st.sampled_from([None, "shop"]),
)


def asked(request: QueryRequest) -> tuple[Any, ...]:
    parameters = request.parameters
    named = (
        sorted((name, repr(one)) for name, one in parameters.items())
        if isinstance(parameters, dict)
        else [repr(one) for one in parameters]
    )
    # Without any, it makes no difference whether values have names.
    kind = isinstance(parameters, dict) if parameters else None
    return request.sql, kind, named, request.catalog, request.schema


@given(REQUESTS, REQUESTS)
def test_texts_have_one_key_exactly_if_they_ask_the_same(one: QueryRequest, other: QueryRequest) -> None:
    are_equal = TextKey.of(one) == TextKey.of(other)
    assert not are_equal or asked(one) == asked(other)
    # By their text: 1 equals True in Python, but not in SQL.
    assert are_equal or repr(one) != repr(other)


def test_what_does_not_change_the_rows_is_not_in_the_key() -> None:
    request = QueryRequest("SELECT 1")
    others = replace(
        request, timeout_ms=1, row_limit=1, byte_limit=1, tags={"a": "b"}, reuse=ReuseChoice.REFRESH
    )
    assert TextKey.of(request) == TextKey.of(others)


# ---- results --------------------------------------------------------------------------------------

STATES = st.dictionaries(st.sampled_from([SALES, ITEM]), st.sampled_from(["1", "2"]), max_size=2)
PARTS = st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(["", "p"]), STATES, STATES)
TEXT = TextKey.of(QueryRequest("SELECT 1"))


@given(PARTS, PARTS)
def test_results_have_one_key_exactly_if_all_parts_are_equal(one: Any, other: Any) -> None:
    assert (result_key(TEXT, *one) == result_key(TEXT, *other)) == (one == other)


def test_the_state_of_a_table_is_its_metadata_and_its_identity() -> None:
    facts = facts_of_empty_table(SALES)
    state = table_state(facts)
    assert state is not None
    assert table_state(replace(facts, metadata_location="memory:/other")) != state
    assert table_state(replace(facts, table_uuid=UUID(int=1))) != state
    assert table_state(replace(facts, metadata_location="")) is None
    assert table_state(replace(facts, source=TableSource.FILES)) is None


# ---- policies -------------------------------------------------------------------------------------


def select(*tables: TableName, role: str = "r") -> tuple[Grant, ...]:
    return tuple(Grant(role, Action.SELECT, TablePattern.parse(str(table))) for table in tables)


def access(
    *grants: Grant,
    filters: tuple[RowFilter, ...] = (),
    masks: tuple[ColumnMask, ...] = (),
    definers: tuple[DefinerView, ...] = (),
) -> RoleAccess:
    return RoleAccess(CompiledPolicies(PolicySet(1, grants, filters, masks, definers)), frozenset({"r"}))


def facts(*tables: TableName, views: tuple[TableName, ...] = ()) -> QueryFacts:
    definitions = {view.parts: f"definition of {view}" for view in views}
    return QueryFacts(read_plan(*tables, views=views), Reusability.REUSABLE, definitions=definitions)


ON_SALES = TablePattern.parse(str(SALES))


def test_full_access_shows_what_a_grant_without_restriction_shows() -> None:
    read = facts(SALES)
    assert policy_fingerprint(read, FULL_ACCESS) == policy_fingerprint(read, access(*select(SALES))) == ""


def test_restrictions_of_other_tables_make_no_difference() -> None:
    of_item = RowFilter("r", TablePattern.parse(str(ITEM)), "a = 1")
    one = access(*select(SALES, ITEM), filters=(of_item,))
    assert policy_fingerprint(facts(SALES), one) == ""
    assert policy_fingerprint(facts(SALES, ITEM), one) != ""


def test_each_restriction_has_a_fingerprint_of_its_own() -> None:
    found = [
        policy_fingerprint(facts(SALES), access(*select(SALES), filters=filters, masks=masks))
        for filters in ((), (RowFilter("r", ON_SALES, "a = 1"),), (RowFilter("r", ON_SALES, "a = 2"),))
        for masks in ((), (ColumnMask("r", ON_SALES, "card", "NULL"),))
    ]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize("grants", [(), select(ITEM)], ids=["none", "of another table"])
def test_who_may_not_read_a_table_has_none(grants: tuple[Grant, ...]) -> None:
    with pytest.raises(TableAccessDenied):
        policy_fingerprint(facts(SALES), access(*grants))


def test_a_view_and_the_table_below_it_are_both_decided() -> None:
    read = facts(SALES, views=(OUTER,))
    with pytest.raises(TableAccessDenied):
        policy_fingerprint(read, access(*select(OUTER)))
    with pytest.raises(TableAccessDenied):
        policy_fingerprint(read, access(*select(SALES)))
    assert policy_fingerprint(read, access(*select(OUTER, SALES))) == ""


def test_a_definers_rights_are_those_of_one_definition() -> None:
    read = facts(SALES, views=(OUTER,))
    grants = (*select(OUTER), *select(SALES, role="definer"))
    right = DefinerView("definer", OUTER, f"definition of {OUTER}")
    found = policy_fingerprint(read, access(*grants, definers=(right,)))
    assert found not in ("", policy_fingerprint(read, access(*select(OUTER, SALES))))
    with pytest.raises(ViewChanged):
        policy_fingerprint(read, access(*grants, definers=(replace(right, definition="another"),)))
    with pytest.raises(TableAccessDenied):
        policy_fingerprint(read, access(*select(OUTER), definers=(right,)))


# ---- what a plan has read --------------------------------------------------------------------------

NOW = replace(facts_of_empty_table(SALES), snapshot_id=7, snapshot_schema_id=0)
LATER = replace(NOW, snapshot_id=8, metadata_location="memory:/later")
TABLES = {SALES: NOW}


def read(of: TableFacts, **other: Any) -> TableRead:
    loaded = TableRead(of.name, of.table_uuid, of.schema_id, of.metadata_location, of.snapshot_id)
    return replace(loaded, **other)


def test_a_plan_as_written_has_read_the_state_that_it_was_loaded_in() -> None:
    assert has_read(PlanReads((read(NOW), read(NOW))), TABLES, None)
    assert has_read(PlanReads(()), {}, None)
    assert not has_read(PlanReads((read(NOW), read(LATER))), TABLES, None)
    assert not has_read(PlanReads((read(LATER, snapshot_id=7, is_version=True),)), TABLES, None)
    assert not has_read(PlanReads((read(NOW),), has_others=True), TABLES, None)
    assert not has_read(PlanReads((read(NOW, table=ITEM),)), TABLES, None)


def test_a_rewritten_plan_may_have_read_the_same_snapshot_at_a_later_moment() -> None:
    pinned = read(LATER, snapshot_id=7, is_version=True)
    upper = replace(SALES, table="SALES")
    assert has_read(PlanReads((pinned,), has_others=True), TABLES, [NOW])
    assert has_read(PlanReads((replace(pinned, table=upper),)), TABLES, [NOW])
    assert not has_read(PlanReads((pinned,)), TABLES, [LATER])
    assert not has_read(PlanReads((replace(pinned, is_version=False),)), TABLES, [NOW])
    assert not has_read(PlanReads((replace(pinned, snapshot_id=8),)), TABLES, [NOW])
    assert not has_read(PlanReads((replace(pinned, table_uuid=UUID(int=1)),)), TABLES, [NOW])
    other_columns = {SALES: replace(NOW, schema_id=1)}
    assert not has_read(PlanReads((pinned,)), other_columns, [other_columns[SALES]])
    assert not has_read(PlanReads((pinned,)), TABLES, [replace(NOW, metadata_location="")])


def test_an_analysis_holds_for_the_same_columns() -> None:
    assert has_these_columns([read(NOW)], {SALES: LATER})
    assert not has_these_columns([read(NOW)], {SALES: replace(LATER, schema_id=1)})
    assert not has_these_columns([read(NOW)], {SALES: replace(LATER, table_uuid=UUID(int=1))})
    assert not has_these_columns([read(NOW)], {})
    for versioned in (read(NOW, is_version=True), read(NOW, has_options=True)):
        assert has_these_columns([versioned], TABLES)
        assert not has_these_columns([versioned], {SALES: LATER})
