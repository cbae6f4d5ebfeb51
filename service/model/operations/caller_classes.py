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

    A name that ends in `*` stands for all callers that begin so, such as those of one issuer. The caller's
    own name goes first, then the longest beginning.

    >>> classes = CallerClasses({"reports": "dashboards", "okta:*": "people", "okta:etl-*": "jobs"})
    >>> classes.of("reports"), classes.of("okta:ann"), classes.of("okta:etl-7"), classes.of("okta:etl-*")
    ('dashboards', 'people', 'jobs', 'jobs')
    >>> classes.of("ann"), classes.of("anonymous")
    ('authenticated', 'anonymous')
    """

    of_callers: Mapping[str, str] = field(default_factory=dict)

    _beginnings: tuple[tuple[str, str], ...] = field(init=False, repr=False)
    """Beginnings of names with their classes, longest first."""

    def __post_init__(self) -> None:
        found = [(name[:-1], of) for name, of in self.of_callers.items() if name.endswith("*")]
        object.__setattr__(self, "_beginnings", tuple(sorted(found, key=lambda one: -len(one[0]))))

    @property
    def names(self) -> frozenset[str]:
        """All classes."""
        return frozenset({ANONYMOUS, AUTHENTICATED, *self.of_callers.values()})

    def of(self, caller: str) -> str:
        """Returns the caller's class."""
        if caller == ANONYMOUS_CALLER:
            return self.of_callers.get(caller, ANONYMOUS)
        if caller in self.of_callers:
            return self.of_callers[caller]
        return next((found for begin, found in self._beginnings if caller.startswith(begin)), AUTHENTICATED)
