"""Views with definer's rights are bound to what they are when an administrator defines them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.errors.policy_errors import PoliciesInvalid
from service.errors.statement_errors import SqlInvalid
from service.errors.unavailable import EngineNotReady
from service.faults import Fault
from service.model.policies.policies import AnyPolicy, DefinerView, PolicySet
from service.model.tables.tables import TableListing, TableName
from service.policies.manage_policies import PolicyBounds, Proposal
from service.policies.pinned_views import pinned_views
from tests.fakes.policies import FakePolicyChecker, fake_policies
from tests.fakes.policy_store import FakePolicyStore

VIEW, OTHER = TableName.of("lake.sales.By_Region"), TableName.of("lake.sales.by_day")
NOW, BEFORE = "1" * 64, "2" * 64
WRITTEN = DefinerView("owner", VIEW)
STORED = DefinerView("owner", VIEW, BEFORE)
NOTHING = PolicySet()
PLACES: dict[AnyPolicy, str] = {WRITTEN: "/roles/owner/definerViews/0/view"}


class BrokenChecker(FakePolicyChecker):
    """Cannot read views."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    def definition(self, view: TableName) -> str | None:  # noqa: ARG002
        raise self.error


def views(*views: DefinerView) -> PolicySet:
    return PolicySet(definer_views=views)


def pinned(
    asked: PolicySet, before: PolicySet = NOTHING, *, is_checked: bool = True
) -> tuple[tuple[DefinerView, ...], tuple[str, ...]]:
    found = pinned_views(asked, before, PLACES, FakePolicyChecker(views={VIEW: NOW}), is_checked=is_checked)
    return found.policies.definer_views, found.warnings


def test_a_new_view_is_taken_as_it_is_now() -> None:
    assert pinned(views(WRITTEN)) == ((replace(WRITTEN, definition=NOW),), ())
    assert pinned(views(replace(WRITTEN, definition=NOW))) == ((replace(WRITTEN, definition=NOW),), ())


def test_a_known_view_keeps_its_definition_and_is_reported_if_it_changed() -> None:
    """A change of a view never gets rights by an import that does not name it."""
    for written in (WRITTEN, STORED):
        found, [warning] = pinned(views(written), views(STORED))
        assert found == (STORED,)
        assert "has changed, so nobody may read it" in warning
        assert NOW in warning
    found, warnings = pinned(views(replace(WRITTEN, role="other")), views(replace(STORED, definition=NOW)))
    assert (found, warnings) == ((DefinerView("other", VIEW, NOW),), ())


def test_the_present_definition_of_a_changed_view_is_taken_if_it_is_written() -> None:
    new = replace(STORED, definition=NOW)
    assert pinned(views(new), views(STORED)) == ((new,), ())


@pytest.mark.parametrize(
    ("written", "detail"),
    [
        (
            STORED,
            "lake.sales.By_Region: The view has another definition now. Look at it, and write this one: "
            + NOW,
        ),
        (DefinerView("owner", OTHER), "lake.sales.by_day: There is no view of this name."),
        (DefinerView("owner", OTHER, NOW), "lake.sales.by_day: There is no view of this name."),
    ],
)
def test_a_view_that_is_not_there_or_not_as_written_is_refused(written: DefinerView, detail: str) -> None:
    with pytest.raises(PoliciesInvalid) as caught:
        pinned(views(written))
    assert caught.value.faults == (Fault(detail, None),)


def test_a_view_without_a_definition_is_not_taken_unread() -> None:
    with pytest.raises(PoliciesInvalid) as caught:
        pinned(views(WRITTEN), is_checked=False)
    [fault] = caught.value.faults
    assert "Write its `definition`" in fault.detail
    assert fault.pointer == PLACES[WRITTEN]
    assert pinned(views(STORED), is_checked=False) == ((STORED,), ())
    assert pinned(views(WRITTEN), views(STORED), is_checked=False) == ((STORED,), ())


@pytest.mark.parametrize(
    "others",
    [
        (DefinerView("a", VIEW, NOW), DefinerView("b", VIEW, BEFORE)),
        (WRITTEN, DefinerView("b", VIEW.in_lower_case())),
    ],
)
def test_one_view_has_one_definition_and_one_name(others: tuple[DefinerView, ...]) -> None:
    with pytest.raises(PoliciesInvalid, match="another definition, or in other case"):
        pinned_views(
            views(*others),
            views(STORED, replace(STORED, view=VIEW.in_lower_case())),
            {},
            FakePolicyChecker(views={VIEW: NOW}),
        )


def test_a_view_that_cannot_be_read_is_refused_if_it_is_new_and_kept_if_it_is_not() -> None:
    with pytest.raises(PoliciesInvalid, match="no such column"):
        pinned_views(
            views(WRITTEN), PolicySet(), PLACES, BrokenChecker(SqlInvalid("There is no such column."))
        )
    down = BrokenChecker(EngineNotReady("There is no engine."))
    with pytest.raises(EngineNotReady):
        pinned_views(views(WRITTEN), PolicySet(), PLACES, down)
    kept = pinned_views(views(WRITTEN), views(STORED), PLACES, down)
    assert kept.policies == views(STORED)
    assert kept.warnings == (
        "Whether the view lake.sales.By_Region has changed is not known: There is no engine.",
    )


def test_a_change_shows_the_definition_that_it_gives_rights_to() -> None:
    store = FakePolicyStore()
    policies = fake_policies(lambda: TableListing(()), store, FakePolicyChecker(views={VIEW: NOW}))
    changed = policies.replace(Proposal(views(WRITTEN), PLACES), 0, "ops")
    assert changed.difference.added == (replace(WRITTEN, definition=NOW),)
    assert changed.warnings == ()
    assert store.load().definer_views == changed.difference.added
    again = policies.replace(Proposal(views(WRITTEN), PLACES), 1, "ops")
    assert not again.difference
    removed = policies.replace(Proposal(PolicySet()), 1, "ops")
    assert removed.difference.removed == (replace(WRITTEN, definition=NOW),)


def test_so_many_views_are_read_for_one_change() -> None:
    names = [TableName.of(f"lake.sales.v{number}") for number in range(3)]
    checker = FakePolicyChecker(views=dict.fromkeys(names, NOW))
    asked = views(*(DefinerView("owner", name) for name in names))
    with pytest.raises(PoliciesInvalid) as caught:
        pinned_views(asked, NOTHING, {}, checker, max_checks=2)
    [fault] = caught.value.faults
    assert "lake.sales.v2: One change may add 2 views" in fault.detail
    before = views(*(DefinerView("owner", name, NOW) for name in names))
    kept = pinned_views(asked, before, {}, checker, max_checks=2)
    assert kept.policies == before
    assert kept.warnings == ("Whether 1 more views have changed was not checked.",)


def test_views_count_as_policies() -> None:
    policies = fake_policies(
        lambda: TableListing(()), checker=FakePolicyChecker(views={VIEW: NOW}), bounds=PolicyBounds(1)
    )
    with pytest.raises(PoliciesInvalid, match="There are 2 policies; 1 are allowed"):
        policies.plan(Proposal(views(WRITTEN, replace(WRITTEN, role="other"))), 0)
