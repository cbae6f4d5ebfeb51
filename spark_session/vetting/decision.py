"""The form of a decision, and of the tables that decisions are written in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Ruling(StrEnum):
    """The consequence for a text that has the thing."""

    ALLOWED = "allowed"
    BOUNDED = "bounded"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Decision:
    """One row of the tables.

    `by` is the setting, or the words, that bound it; the stable code of the error if it is refused. A
    function that `is_policy_safe` may stand in a row filter or a mask.
    """

    name: str
    ruling: Ruling
    reason: str
    by: str = ""
    is_policy_safe: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Several names with one decision, written as one text with spaces between the names."""

    ruling: Ruling
    reason: str
    names: str
    by: str = ""
    is_policy_safe: bool = False


def allowed(reason: str, names: str, *, is_policy_safe: bool = False) -> Group:
    """Returns a group of what may stand in any query."""
    return Group(Ruling.ALLOWED, reason, names, is_policy_safe=is_policy_safe)


def bounded(reason: str, by: str, names: str, *, is_policy_safe: bool = False) -> Group:
    """Returns a group of what may ask for so much only."""
    return Group(Ruling.BOUNDED, reason, names, by, is_policy_safe)


def refused(reason: str, names: str, code: str = "STATEMENT_NOT_ALLOWED") -> Group:
    """Returns a group of what makes a query an error with this code."""
    return Group(Ruling.REFUSED, reason, names, code)


def table_of(groups: Iterable[Group]) -> Mapping[str, Decision]:
    """Returns the decisions by name.

    >>> sorted(table_of([allowed("Pure.", "abs sign"), refused("Runs code.", "reflect")]))
    ['abs', 'reflect', 'sign']
    >>> table_of([allowed("Pure.", "abs"), refused("Runs code.", "abs")])
    Traceback (most recent call last):
    ValueError: there are two decisions on abs

    Raises:
        ValueError: a name has two decisions.
    """
    decisions: dict[str, Decision] = {}
    for group in groups:
        for name in group.names.split():
            if name in decisions:
                raise ValueError(f"there are two decisions on {name}")
            decisions[name] = Decision(name, group.ruling, group.reason, group.by, group.is_policy_safe)
    return MappingProxyType(decisions)


def names_with(table: Mapping[str, Decision], *rulings: Ruling) -> frozenset[str]:
    """Returns the names whose decision is one of these."""
    return frozenset(name for name, decision in table.items() if decision.ruling in rulings)
