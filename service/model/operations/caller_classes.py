"""Callers in a few classes, which numbers can be told by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ANONYMOUS_CALLER = "anonymous"
"""The name of whoever comes without a token, where none is asked for."""
ANONYMOUS, AUTHENTICATED = "anonymous", "authenticated"


@dataclass(frozen=True, slots=True)
class CallerClasses:
    """`of_callers` are the operator's own, by the callers' names; all others are of one of two classes.

    >>> classes = CallerClasses({"reports": "dashboards"})
    >>> classes.of("reports"), classes.of("ann"), classes.of("anonymous")
    ('dashboards', 'authenticated', 'anonymous')
    """

    of_callers: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """All classes that there are."""
        return frozenset({ANONYMOUS, AUTHENTICATED, *self.of_callers.values()})

    def of(self, caller: str) -> str:
        """The caller's class."""
        other = ANONYMOUS if caller == ANONYMOUS_CALLER else AUTHENTICATED
        return self.of_callers.get(caller, other)
