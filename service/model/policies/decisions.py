"""What policies decide about one action of a principal on one table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from service.model.policies.actions import Action
from service.model.tables.tables import TableName

UNRESTRICTED = ""
"""The fingerprint of a decision that shows every row and column as it is."""


@dataclass(frozen=True, slots=True)
class Refused:
    """The principal may not do it. `is_denied`: a denial says so; otherwise no grant allows it."""

    action: Action
    table: TableName
    is_denied: bool = False


@dataclass(frozen=True, slots=True)
class Allowed:
    """The principal may do it, and sees the rows of the filter with these masks.

    `row_filter` is a SQL predicate on the table's columns; None: all rows. `masks` maps columns in lower case
    to SQL expressions.
    """

    row_filter: str | None = None
    masks: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_restricted(self) -> bool:
        """Whether some row is hidden, or some column masked."""
        return self.row_filter is not None or bool(self.masks)

    @property
    def fingerprint(self) -> str:
        """The same for decisions that show the same rows of a table, and different for all others.

        Keys, rows and results that were read under one fingerprint may be served only under the same one.

        >>> Allowed().fingerprint == UNRESTRICTED
        True
        >>> Allowed("a = 1").fingerprint == Allowed("a = 2").fingerprint
        False
        """
        if not self.is_restricted:
            return UNRESTRICTED
        return sha256(json.dumps([self.row_filter, sorted(self.masks.items())]).encode()).hexdigest()


Decision = Refused | Allowed
