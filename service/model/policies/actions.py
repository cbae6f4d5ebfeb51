"""The actions that a principal may do to a table."""

from __future__ import annotations

from enum import StrEnum


class Action(StrEnum):
    """An action that a role can be granted, or denied.

    `SELECT` reads rows, `INSERT` appends records, `MODIFY` upserts records and evolves the schema, `CREATE`
    creates tables, `MAINTAIN` compacts files and expires snapshots. `DESCRIBE` shows that a table exists, its
    schema and its snapshots. `ADMIN` is every action, and the right to change the policies of the tables.
    """

    SELECT = "select"
    INSERT = "insert"
    MODIFY = "modify"
    DESCRIBE = "describe"
    CREATE = "create"
    MAINTAIN = "maintain"
    ADMIN = "admin"

    @property
    def granted_by(self) -> frozenset[Action]:
        """The actions whose grant includes this one.

        Who may read or write a table may also see its schema.

        >>> [str(action) for action in sorted(Action.SELECT.granted_by)]
        ['admin', 'select']
        >>> Action.DESCRIBE.granted_by == frozenset(Action)
        True
        """
        return frozenset(Action) if self is Action.DESCRIBE else frozenset({self, Action.ADMIN})
