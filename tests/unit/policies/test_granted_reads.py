"""Each place of a plan is decided for the nearest definer around it, or for the caller."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from itertools import product

import pytest

from service.errors.policy_errors import TableAccessDenied
from service.errors.statement_errors import QueryTooLarge
from service.errors.table_errors import ViewChanged
from service.model.policies.actions import Action
from service.model.policies.policies import ColumnMask, DefinerView, Grant, PolicySet, RowFilter
from service.model.policies.read_plan import ReadPlan, ReadTable, ReadView
from service.model.policies.table_patterns import TablePattern
from service.model.tables.restrictions import Restriction
from service.model.tables.tables import TableName
from service.policies.anonymous_access import ANONYMOUS_ACCESS
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.policies.granted_reads import (
    GuardedPlace,
    allow_unread,
    allow_view_depth,
    applied_policies,
    guarded_places,
    has_full_names,
    has_policies,
    written_views,
)
from spark_session.session.view_definitions import ViewText, is_made_from

OUTER, INNER, TABLE = ("lake", "v", "outer"), ("lake", "v", "inner"), ("lake", "t", "table")
DEFINITION = "3f" * 32
GRANTABLE = ("caller", "first", "second")


def select(role: str, *parts: tuple[str, ...]) -> tuple[Grant, ...]:
    return tuple(Grant(role, Action.SELECT, TablePattern.parse(".".join(each))) for each in parts)


def access(
    *grants: Grant,
    definers: Iterable[tuple[str, tuple[str, ...]]] = (),
    filters: tuple[RowFilter, ...] = (),
    masks: tuple[ColumnMask, ...] = (),
    roles: str = "caller",
) -> RoleAccess:
    views = tuple(DefinerView(role, TableName.of(".".join(view)), DEFINITION) for role, view in definers)
    policies = PolicySet(1, grants, filters, masks, views)
    return RoleAccess(CompiledPolicies(policies), frozenset(roles.split()))


def table(*path: tuple[str, ...], metadata: str | None = None, hidden: tuple[str, ...] = ()) -> ReadTable:
    return ReadTable(TableName.of(".".join(TABLE)), TABLE, metadata, hidden, path)


def named(parts: tuple[str, ...]) -> TableName:
    return TableName.of(".".join(parts))


def plan(*tables: ReadTable, written: tuple[tuple[str, ...], ...] = (OUTER,)) -> ReadPlan:
    views = (ReadView(OUTER), ReadView(INNER, (OUTER,)))
    return ReadPlan(written, views, tables or (table(OUTER, INNER),), ())


def defined(view: ReadView) -> str | None:  # noqa: ARG001
    return DEFINITION


def is_allowed(asked: RoleAccess, found: ReadPlan | None = None) -> bool:
    try:
        list(guarded_places(found or plan(), asked, defined))
    except TableAccessDenied:
        return False
    return True


def expected(grants: Collection[tuple[str, tuple[str, ...]]], outer: str | None, inner: str | None) -> bool:
    """Returns whether the caller may read the outer view: it reads the inner one, and that one the table."""
    reader_of_inner = outer or "caller"
    reader_of_table = inner or reader_of_inner
    return {("caller", OUTER), (reader_of_inner, INNER), (reader_of_table, TABLE)} <= set(grants)


@pytest.mark.parametrize("outer", [None, "first", "second"])
@pytest.mark.parametrize("inner", [None, "first", "second"])
def test_each_view_and_table_is_decided_for_who_reads_it(outer: str | None, inner: str | None) -> None:
    definers = [(role, view) for role, view in ((outer, OUTER), (inner, INNER)) if role is not None]
    cells = list(product(GRANTABLE, (OUTER, INNER, TABLE)))
    seen = set()
    for bits in range(1 << len(cells)):
        grants = {cell for number, cell in enumerate(cells) if bits >> number & 1}
        asked = access(*(grant for role, parts in grants for grant in select(role, parts)), definers=definers)
        wanted = expected(grants, outer, inner)
        seen.add(wanted)
        assert is_allowed(asked) is wanted, (grants, outer, inner)
    assert seen == {True, False}


def test_what_a_definer_may_not_read_is_not_named() -> None:
    asked = access(*select("caller", OUTER), *select("first", INNER), definers=[("first", OUTER)])
    with pytest.raises(TableAccessDenied) as refused:
        list(guarded_places(plan(), asked, defined))
    assert refused.value.table == "lake.v.outer"
    assert "lake.t" not in refused.value.detail
    assert "inner" not in refused.value.detail


def test_restrictions_are_those_of_who_reads_the_place() -> None:
    patterns = {parts: TablePattern.parse(".".join(parts)) for parts in (OUTER, INNER, TABLE)}
    asked = access(
        *select("caller", OUTER, TABLE),
        *select("first", INNER, TABLE),
        definers=[("first", OUTER)],
        filters=(
            RowFilter("caller", patterns[TABLE], "a = 1"),
            RowFilter("first", patterns[TABLE], "a = 2"),
            RowFilter("caller", patterns[OUTER], "a = 3"),
            RowFilter("caller", patterns[INNER], "a = 4"),
        ),
        masks=(ColumnMask("first", patterns[INNER], "b", "NULL"),),
    )
    found = list(guarded_places(plan(table(), table(OUTER, INNER)), asked, defined))
    assert found == [
        GuardedPlace(named(OUTER), (), Restriction("((a = 3))"), is_apart=True),
        GuardedPlace(named(INNER), (OUTER,), Restriction(masks=(("b", "NULL"),))),
        GuardedPlace(named(TABLE), (), Restriction("((a = 1))")),
        GuardedPlace(named(TABLE), (OUTER, INNER), Restriction("((a = 2))")),
    ]
    assert applied_policies(found) == (
        "definer of lake.v.outer",
        "row filter of lake.v.outer",
        "mask of lake.v.inner.b",
        "row filter of lake.t.table",
    )


@pytest.mark.parametrize("found", [None, "00" * 32, ""])
def test_a_view_that_is_another_one_now_is_refused(found: str | None) -> None:
    asked = access(*select("caller", OUTER), *select("first", INNER, TABLE), definers=[("first", OUTER)])
    with pytest.raises(ViewChanged, match=r"lake\.v\.outer has changed"):
        list(guarded_places(plan(), asked, lambda view: found if view.parts == OUTER else DEFINITION))


def test_metadata_below_a_definers_view_is_decided_as_of_its_definer() -> None:
    hiding = (RowFilter("first", TablePattern.parse(".".join(TABLE)), "a = 2"),)
    granted = (*select("caller", OUTER, INNER, TABLE), *select("first", INNER, TABLE))
    for shown in (table(OUTER, INNER, metadata="FILES"), table(OUTER, INNER, hidden=("_file",))):
        assert is_allowed(access(*granted, definers=[("first", OUTER)]), plan(shown))
        assert not is_allowed(access(*granted, definers=[("first", OUTER)], filters=hiding), plan(shown))
        assert is_allowed(access(*granted, filters=hiding), plan(shown))


def test_a_name_that_the_plan_does_not_show_is_decided_for_the_caller() -> None:
    """A common table expression that is not read leaves its tables out of the plan."""
    asked = access(*select("caller", OUTER), *select("first", INNER, TABLE), definers=[("first", OUTER)])
    allow_unread(plan(), asked, ())
    for unread in (TABLE, INNER):
        with pytest.raises(TableAccessDenied):
            allow_unread(plan(written=(OUTER, unread)), asked, ())
    hidden = (RowFilter("caller", TablePattern.parse(".".join(TABLE)), "a = 1"),)
    with pytest.raises(TableAccessDenied):
        allow_unread(plan(written=(TABLE,)), access(*select("caller", TABLE), filters=hidden), ())
    allow_unread(plan(written=(("own",),)), asked, ("own",))


def test_a_table_is_not_taken_for_a_view_and_a_view_in_other_case_is() -> None:
    upper = tuple(part.upper() for part in OUTER)
    assert list(written_views(plan(table(), written=(TABLE, upper)), ())) == [upper]
    allow_unread(plan(written=(upper,)), access(*select("caller", OUTER)), ())


def test_views_with_policies_are_known() -> None:
    asked = access(
        *select("caller", OUTER, INNER, TABLE),
        definers=[("first", OUTER)],
        filters=(RowFilter("caller", TablePattern.parse(".".join(INNER)), "a = 1"),),
    )
    names = [TableName.of(".".join(parts)) for parts in (OUTER, INNER, TABLE)]
    assert [has_policies(name, asked) for name in names] == [True, True, False]
    assert not has_policies(names[0], ANONYMOUS_ACCESS)


def test_below_a_view_is_all_that_it_reads() -> None:
    other = ReadView(INNER)
    found = ReadPlan((), (ReadView(OUTER), ReadView(INNER, (OUTER,)), other), (), ())
    assert found.below(ReadView(OUTER)) == {OUTER, INNER}
    assert found.below(other) == {INNER}


def test_a_reported_plan_is_read() -> None:
    reported = (
        '{"names": [["lake", "v", "Outer"]], "views": [{"name": ["lake", "v", "Outer"], "path": []}],'
        ' "tables": [{"name": ["lake", "t", "T"], "path": [["lake", "v", "outer"]],'
        ' "parts": ["lake", "t", "T", "files"], "metadata": "FILES", "columns": ["_file"]}],'
        ' "unknown": ["X"]}'
    )
    assert ReadPlan.of(reported) == ReadPlan(
        (("lake", "v", "Outer"),),
        (ReadView(("lake", "v", "Outer")),),
        (ReadTable(TableName("lake", "t", "T"), ("lake", "t", "T", "files"), "FILES", ("_file",), (OUTER,)),),
        ("X",),
    )


def test_a_plan_has_full_names_if_it_shows_each_written_name() -> None:
    assert has_full_names(plan())
    assert has_full_names(plan(table(), written=(TABLE, OUTER)))
    # The inner view is shown below the outer one alone: the text may name it in another way.
    assert not has_full_names(plan(written=(OUTER, INNER)))
    assert not has_full_names(plan(written=(("v",),)))


def test_a_view_with_a_text_was_made_from_this_text_alone() -> None:
    reported = {"names": [OUTER], "tables": [], "unknown": []}
    views = [{"name": OUTER, "path": [], "text": text} for text in (["SELECT 1", {"b": 1}], None)]
    own, other = ReadPlan.of(json.dumps(reported | {"views": views})).views
    found = ViewText(json.dumps(["SELECT 1", {"b": 1}]), "a state")
    assert is_made_from(own, found)
    assert not is_made_from(own, ViewText(json.dumps(["SELECT 2", {"b": 1}]), "a state"))
    assert not is_made_from(own, None)
    assert is_made_from(other, None)


def test_views_within_views_have_a_bound() -> None:
    names = [("lake", "v", f"v{number}") for number in range(21)]
    views = tuple(ReadView(name, tuple(names[:at])) for at, name in enumerate(names))
    allow_view_depth(ReadPlan((), (), (table(),), ()), 1)
    allow_view_depth(ReadPlan((), views[:20], (table(),), ()), 20)
    with pytest.raises(QueryTooLarge, match="20 levels"):
        allow_view_depth(ReadPlan((), views, (table(),), ()), 20)
