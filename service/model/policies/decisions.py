"""The decisions of policies about one action of a principal on one table."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from service.model.policies.actions import Action
from service.model.tables.restrictions import UNRESTRICTED, Restriction
from service.model.tables.tables import TableName


@dataclass(frozen=True, slots=True)
class Refused:
    """The principal may not do it. `is_denied`: a denial says so; otherwise no grant allows it.

    `shows`: policies allow it for this table, but its rows are records that were sent to this other table,
    which the principal does not see as a whole.
    """

    action: Action
    table: TableName
    is_denied: bool = False
    shows: TableName | None = None


@dataclass(frozen=True, slots=True)
class Allowed:
    """The principal may do it, and sees the table with this restriction."""

    restriction: Restriction = UNRESTRICTED


Decision = Refused | Allowed


class SchemaSight(Enum):
    """A principal's knowledge of a schema.

    `SHOWN`: that it exists. `BY_TABLE`: it exists for the principal if it has a table that the principal may
    describe. `HIDDEN`: nothing, it does not exist.
    """

    SHOWN = "SHOWN"
    BY_TABLE = "BY_TABLE"
    HIDDEN = "HIDDEN"


class Access(Protocol):
    """The rights of one principal, by the policies of one moment: they never change.

    A query asks the same object from its beginning to its end. A change of policies in between would mix keys
    and rows of different restrictions.
    """

    def decide(self, action: Action, table: TableName) -> Decision:
        """Returns whether the principal may do it to the table, and which rows and columns it sees."""

    def administers_all(self) -> bool:
        """Whether the principal may administer all tables, without an exception."""

    def definer_of(self, view: TableName) -> Definer | None:
        """Returns with whose rights a view reads what is below it. None: with those of whoever reads it."""

    def sight_of(self, catalog: str, schema: str) -> SchemaSight:
        """Returns what the principal may know of a schema, whether or not it exists."""

    def knows_catalog(self, catalog: str) -> bool:
        """Whether the principal may know that the catalog exists."""


@dataclass(frozen=True, slots=True)
class Definer:
    """The rights of a view's definer.

    `definition` is the digest of the view, and of all views below it, that has these rights. Any other view
    of this name may not be read.
    """

    access: Access
    definition: str


class FullAccess:
    """Implements `Access`: everything is allowed. The gateway's own reads, and a gateway without policies."""

    def decide(self, action: Action, table: TableName) -> Decision:  # noqa: ARG002
        """See `Access`."""
        return Allowed()

    def administers_all(self) -> bool:
        """See `Access`."""
        return True

    def definer_of(self, view: TableName) -> Definer | None:  # noqa: ARG002
        """See `Access`."""
        return None

    def sight_of(self, catalog: str, schema: str) -> SchemaSight:  # noqa: ARG002
        """See `Access`."""
        return SchemaSight.SHOWN

    def knows_catalog(self, catalog: str) -> bool:  # noqa: ARG002
        """See `Access`."""
        return True


FULL_ACCESS = FullAccess()
