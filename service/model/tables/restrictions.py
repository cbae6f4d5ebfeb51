"""The rows and the values of columns that a principal does not see of a table."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

_MASK = "mask of "


@dataclass(frozen=True, slots=True)
class Restriction:
    """The rows that a principal sees, and the columns that are masked.

    `row_filter` is a SQL predicate on the table's columns; None: all rows. `masks` has columns in lower case,
    in order, each with a SQL expression.
    """

    row_filter: str | None = None
    masks: tuple[tuple[str, str], ...] = ()

    @property
    def is_any(self) -> bool:
        """Whether some row is hidden, or some column masked."""
        return self.row_filter is not None or bool(self.masks)

    def is_masked(self, column: str) -> bool:
        """Whether the column is masked; its name may be in any case."""
        return column.lower() in dict(self.masks)

    def named(self, table: str) -> Iterator[str]:
        """Yields a name for the row filter and for each mask, as audit events have them.

        >>> list(Restriction("a = 1", (("card", "NULL"),)).named("lake.a.t"))
        ['row filter of lake.a.t', 'mask of lake.a.t.card']
        """
        if self.row_filter is not None:
            yield f"row filter of {table}"
        yield from (f"{_MASK}{table}.{column}" for column, _ in self.masks)

    @property
    def fingerprint(self) -> str:
        """The same for restrictions that show the same rows of a table, and different for all others.

        Keys, rows and results that were read under one fingerprint may be served only under the same one.

        >>> Restriction().fingerprint
        ''
        >>> Restriction("a = 1").fingerprint == Restriction("a = 2").fingerprint
        False
        """
        if not self.is_any:
            return ""
        return sha256(json.dumps([self.row_filter, self.masks]).encode()).hexdigest()


UNRESTRICTED = Restriction()
"""Every row and column as it is."""


def is_mask(name: str) -> bool:
    """Whether a policy's name is that of a mask.

    >>> [is_mask(name) for name in Restriction("a = 1", (("card", "NULL"),)).named("lake.a.t")]
    [False, True]
    """
    return name.startswith(_MASK)
