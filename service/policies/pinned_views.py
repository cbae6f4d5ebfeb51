"""Binds views with definer's rights to what they are when an administrator defines them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from service.errors.gateway_error import CallerError, GatewayError
from service.errors.policy_errors import PoliciesInvalid
from service.faults import Fault
from service.model.policies.policies import AnyPolicy, DefinerView, PolicySet
from service.model.tables.tables import TableName
from service.ports.stores.policy_store import PolicyChecker

_NO_VIEW = "There is no view of this name."
_NOT_READ = "Write its `definition`: without checks, the view is not read."


@dataclass(frozen=True, slots=True)
class PinnedViews:
    """Policies whose views all have a definition, their places, and warnings about views that changed."""

    policies: PolicySet
    places: Mapping[AnyPolicy, str]
    warnings: tuple[str, ...] = ()


def pinned_views(
    policies: PolicySet,
    before: PolicySet,
    places: Mapping[AnyPolicy, str],
    checker: PolicyChecker,
    *,
    is_checked: bool = True,
    max_checks: int = 1_000,
) -> PinnedViews:
    """Returns the policies with the definition of each view.

    A view without one keeps the definition that it had `before`. A new one gets that of the view as it is
    now. One that is new and given must be that of the view as it is now, if `is_checked`. At most
    `max_checks` views are read.

    Raises:
        PoliciesInvalid: a view does not exist, cannot be read, or is not what its definition says.
        PartDown: the engine or the catalog of a new view does not answer.
    """
    pinning = _Pinning(before, places, checker, is_checked, max_checks)
    found = {view: pinning.pinned(view) for view in policies.definer_views}
    pinning.faults.extend(_contradictions(found, places))
    if pinning.faults:
        raise PoliciesInvalid(pinning.faults)
    moved: dict[AnyPolicy, str] = {found[view]: places[view] for view in found if view in places}
    pinned = replace(policies, definer_views=tuple(found.values())).in_order()
    return PinnedViews(pinned, {**places, **moved}, tuple(dict.fromkeys(pinning.warnings())))


@dataclass(slots=True)
class _Pinning:
    before: PolicySet
    places: Mapping[AnyPolicy, str]
    checker: PolicyChecker
    is_checked: bool
    max_checks: int
    faults: list[Fault] = field(default_factory=list)
    _kept: list[DefinerView] = field(default_factory=list)
    _read: dict[TableName, str | None] = field(default_factory=dict)

    def pinned(self, view: DefinerView) -> DefinerView:
        """Returns the policy with a definition; without one if there is a fault."""
        stored = {each.view.in_lower_case(): each.definition for each in self.before.definer_views}
        known = stored.get(view.view.in_lower_case())
        if known is not None and view.definition in ("", known):
            found = replace(view, definition=known)
            self._kept.append(found)
            return found
        if not self.is_checked:
            if not view.definition:
                self._fault(view, _NOT_READ)
            return view
        return self._checked(view)

    def warnings(self) -> Iterator[str]:
        """Yields a warning for each view that is no longer what its definition says."""
        kept = [view for view in self._kept if self.is_checked]
        for number, view in enumerate(kept):
            if not self._may_read(view.view):
                yield f"Whether {len(kept) - number} more views have changed was not checked."
                return
            try:
                now = self._now(view.view)
            except GatewayError as failure:
                yield f"Whether the view {view.view} has changed is not known: {failure.detail}"
                continue
            if now is None:
                yield f"There is no view {view.view} now."
            elif now != view.definition:
                yield (
                    f"The view {view.view} has changed, so nobody may read it. Look at it, and write its"
                    f" present definition: {now}"
                )

    def _checked(self, view: DefinerView) -> DefinerView:
        if not self._may_read(view.view):
            self._fault(
                view, f"One change may add {self.max_checks} views: add this one with another change."
            )
            return view
        try:
            now = self._now(view.view)
        except CallerError as failure:
            self._fault(view, failure.detail)
            return view
        if now is None:
            self._fault(view, _NO_VIEW)
            return view
        if view.definition not in ("", now):
            self._fault(view, f"The view has another definition now. Look at it, and write this one: {now}")
        return replace(view, definition=now)

    def _may_read(self, view: TableName) -> bool:
        return view in self._read or len(self._read) < self.max_checks

    def _now(self, view: TableName) -> str | None:
        if view not in self._read:
            self._read[view] = self.checker.definition(view)
        return self._read[view]

    def _fault(self, view: DefinerView, detail: str) -> None:
        self.faults.append(Fault(f"{view.view}: {detail}", self.places.get(view)))


def _contradictions(
    found: Mapping[DefinerView, DefinerView], places: Mapping[AnyPolicy, str]
) -> Iterator[Fault]:
    first: dict[TableName, DefinerView] = {}
    for written, view in found.items():
        other = first.setdefault(view.view.in_lower_case(), view)
        if (other.view, other.definition) != (view.view, view.definition):
            detail = (
                f"{view.view}: The role {other.role} has this view with another definition, or in other case."
            )
            yield Fault(detail, places.get(written))
