"""The rights of a caller without credentials while policies decide."""

from __future__ import annotations

from service.model.policies.actions import Action
from service.model.policies.decisions import Allowed, Decision, Definer, Refused, SchemaSight
from service.model.tables.tables import TableName

_MAY = frozenset({Action.SELECT, Action.INSERT, Action.DESCRIBE})


class AnonymousAccess:
    """Implements `Access`: every table may be read, and records may be appended; nothing else.

    Only a gateway that requires no credentials has such callers. They have no roles that policies could name.
    """

    def decide(self, action: Action, table: TableName) -> Decision:
        """See `Access`."""
        return Allowed() if action in _MAY else Refused(action, table)

    def administers_all(self) -> bool:
        """See `Access`."""
        return False

    def definer_of(self, view: TableName) -> Definer | None:  # noqa: ARG002
        """See `Access`."""
        return None

    def sight_of(self, catalog: str, schema: str) -> SchemaSight:  # noqa: ARG002
        """See `Access`."""
        return SchemaSight.SHOWN

    def knows_catalog(self, catalog: str) -> bool:  # noqa: ARG002
        """See `Access`."""
        return True


ANONYMOUS_ACCESS = AnonymousAccess()
