"""Classes of callers, which keep metrics to a few labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ANONYMOUS_CALLER = "anonymous"
"""The name of a caller without a token, where no token is required."""
ANONYMOUS, AUTHENTICATED = "anonymous", "authenticated"


@dataclass(frozen=True, slots=True)
class CallerClasses:
    """The operator's classes, by callers' names; every other caller is in one of two default classes.

    >>> classes = CallerClasses({"reports": "dashboards"})
    >>> classes.of("reports"), classes.of("ann"), classes.of("anonymous")
    ('dashboards', 'authenticated', 'anonymous')
    """

    of_callers: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """All classes."""
        return frozenset({ANONYMOUS, AUTHENTICATED, *self.of_callers.values()})

    def of(self, caller: str) -> str:
        """Returns the caller's class."""
        other = ANONYMOUS if caller == ANONYMOUS_CALLER else AUTHENTICATED
        return self.of_callers.get(caller, other)
