"""The state of the policies at one gateway, for metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """The outcome of a decision.

    `RESTRICTED`: allowed, with a row filter or masks. `DENIED`: a denial says so. `NOT_GRANTED`: no grant
    allows it. `UNKNOWN`: the policies are not known, or too old.
    """

    ALLOWED = "allowed"
    RESTRICTED = "restricted"
    DENIED = "denied"
    NOT_GRANTED = "not_granted"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PolicySigns:
    """The version in use, how long ago the store confirmed it, and the decisions since the start.

    If the store was never read, the version is 0, and `age_s` counts from the start.
    """

    version: int
    age_s: float
    decisions: Mapping[Outcome, int]
