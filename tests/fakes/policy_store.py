"""Policies in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.errors.policy_errors import PoliciesChanged
from service.errors.unavailable import MetricsStoreDown
from service.model.policies.policies import PolicySet
from service.model.policies.policy_changes import PolicyChange, difference
from service.ports.clock import Clock
from tests.fakes.clock import FakeClock


class FakePolicyStore:
    """The `PolicyStore` port. While `is_down`, it does not answer. `load_count` counts the loads."""

    def __init__(self, clock: Clock | None = None, policies: PolicySet | None = None) -> None:
        self._clock = clock or FakeClock()
        self._policies = (policies or PolicySet()).in_order()
        self._changes: list[PolicyChange] = []
        self.is_down = False
        self.load_count = 0

    def version(self) -> int:
        self._check()
        return self._policies.version

    def load(self) -> PolicySet:
        self._check()
        self.load_count += 1
        return self._policies

    def replace(self, policies: PolicySet, *, expected_version: int, by: str) -> PolicySet:
        self._check()
        before = self._policies
        if before.version != expected_version:
            raise PoliciesChanged(before.version)
        change = difference(before, policies)
        if change:
            self._policies = replace(policies.in_order(), version=before.version + 1)
            made = PolicyChange(self._policies.version, self._clock.now(), by, change)
            self._changes.insert(0, made)
        return self._policies

    def changes(self, limit: int) -> Sequence[PolicyChange]:
        self._check()
        return self._changes[:limit]

    def _check(self) -> None:
        if self.is_down:
            raise MetricsStoreDown
