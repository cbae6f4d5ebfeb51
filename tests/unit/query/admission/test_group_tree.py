"""Groups of callers come and go, within a bound."""

from __future__ import annotations

from service.model.operations.resource_groups import USER, ResourceGroup, ResourceGroups
from service.query.admission.group_tree import GroupTree

EACH = ResourceGroup(name=USER, hard_concurrency_limit=1, max_queued=1, hard_scan_limit_bytes=10)
SHARED = ResourceGroup(name="shared", hard_concurrency_limit=1, max_queued=1)
GROUPS = ResourceGroups(
    root_groups=(
        ResourceGroup(name="all", hard_concurrency_limit=9, max_queued=9, sub_groups=(EACH, SHARED)),
    ),
    selectors=(),
)
CALLERS = ("all", USER)


def tree(max_idle: int = 2) -> GroupTree[int]:
    whole = ResourceGroup(name="", hard_concurrency_limit=9, max_queued=9)
    return GroupTree(GROUPS, whole, max_idle)


def test_a_caller_keeps_a_group_and_its_budget_between_queries() -> None:
    groups = tree()
    ann = groups.leaf(CALLERS, "ann")
    assert ann.scanned is not None
    ann.scanned.use(99, 0)
    groups.ended(ann)
    assert groups.leaf(CALLERS, "ann") is ann


def test_of_many_idle_groups_those_that_were_idle_for_longest_are_forgotten() -> None:
    groups = tree(max_idle=2)
    for caller in ("ann", "bob", "ann", "cas", "dan"):
        groups.ended(groups.leaf(CALLERS, caller))
    assert {node.name for node in groups.walk()} == {"all", "all.cas", "all.dan"}


def test_a_group_with_queries_is_never_forgotten() -> None:
    groups = tree(max_idle=0)
    ann = groups.leaf(CALLERS, "ann")
    ann.open = 1
    groups.ended(ann)
    groups.ended(groups.leaf(CALLERS, "bob"))
    assert groups.leaf(CALLERS, "ann") is ann


def test_a_configured_group_is_never_forgotten() -> None:
    groups = tree(max_idle=0)
    shared = groups.leaf(("all", "shared"), "ann")
    groups.ended(shared)
    assert groups.leaf(("all", "shared"), "bob") is shared


def test_a_caller_who_is_named_like_another_group_is_not_in_it() -> None:
    groups = tree()
    assert groups.leaf(CALLERS, "shared") is not groups.leaf(("all", "shared"), "ann")


def test_a_caller_with_dots_in_the_name_has_one_group_of_its_own() -> None:
    groups = tree()
    one, other = groups.leaf(CALLERS, "okta:a.b"), groups.leaf(CALLERS, "okta:a")
    assert one is not other
    assert len(one.path) == 2
