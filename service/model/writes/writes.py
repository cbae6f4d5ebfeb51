"""One write by SQL, from the moment before it begins to its known end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from service.model.policies.actions import Action
from service.model.tables.tables import TableName
from service.model.writes.procedure_calls import ProcedureCall

MARK = "sluice.query-id"
"""The property of a snapshot that names the query that committed it."""


class WriteKind(StrEnum):
    """The kind of a statement that writes."""

    INSERT = "INSERT"
    INSERT_OVERWRITE = "INSERT_OVERWRITE"
    DELETE = "DELETE"
    UPDATE = "UPDATE"
    MERGE = "MERGE"
    CREATE_SCHEMA = "CREATE_SCHEMA"
    DROP_SCHEMA = "DROP_SCHEMA"
    CREATE_TABLE = "CREATE_TABLE"
    CREATE_TABLE_AS = "CREATE_TABLE_AS"
    REPLACE_TABLE = "REPLACE_TABLE"
    REPLACE_TABLE_AS = "REPLACE_TABLE_AS"
    DROP_TABLE = "DROP_TABLE"
    ALTER_TABLE = "ALTER_TABLE"
    RENAME = "RENAME"
    COMMENT = "COMMENT"
    CREATE_VIEW = "CREATE_VIEW"
    REPLACE_VIEW = "REPLACE_VIEW"
    DROP_VIEW = "DROP_VIEW"
    CALL = "CALL"

    @property
    def needs(self) -> tuple[Action, ...]:
        """The actions on the target that a principal needs, beside those for what is read.

        Policies name tables and columns, so a new name would take a table or column away from them: only an
        administrator of it gives it one.
        """
        return _NEEDS[self]

    @property
    def words(self) -> str:
        """The kind as a statement spells it.

        >>> WriteKind.CREATE_TABLE_AS.words
        'CREATE TABLE AS'
        """
        return self.value.replace("_", " ")

    @property
    def has_snapshot(self) -> bool:
        """Whether its commit is a snapshot of a table."""
        return self in _WITH_ROWS


_NEEDS: Mapping[WriteKind, tuple[Action, ...]] = {
    WriteKind.INSERT: (Action.INSERT,),
    WriteKind.INSERT_OVERWRITE: (Action.INSERT, Action.MODIFY),
    WriteKind.DELETE: (Action.MODIFY,),
    WriteKind.UPDATE: (Action.MODIFY,),
    WriteKind.MERGE: (Action.MODIFY,),
    WriteKind.CREATE_SCHEMA: (Action.CREATE,),
    WriteKind.DROP_SCHEMA: (Action.CREATE,),
    WriteKind.CREATE_TABLE: (Action.CREATE,),
    WriteKind.CREATE_TABLE_AS: (Action.CREATE, Action.INSERT),
    WriteKind.REPLACE_TABLE: (Action.CREATE, Action.MODIFY),
    WriteKind.REPLACE_TABLE_AS: (Action.CREATE, Action.INSERT, Action.MODIFY),
    WriteKind.DROP_TABLE: (Action.CREATE, Action.MODIFY),
    WriteKind.ALTER_TABLE: (Action.MODIFY,),
    WriteKind.RENAME: (Action.ADMIN,),
    WriteKind.COMMENT: (Action.MODIFY,),
    WriteKind.CREATE_VIEW: (Action.CREATE,),
    WriteKind.REPLACE_VIEW: (Action.CREATE, Action.MODIFY),
    WriteKind.DROP_VIEW: (Action.CREATE, Action.MODIFY),
    WriteKind.CALL: (Action.MAINTAIN,),
}
_WITH_ROWS = frozenset(
    {
        WriteKind.INSERT,
        WriteKind.INSERT_OVERWRITE,
        WriteKind.DELETE,
        WriteKind.UPDATE,
        WriteKind.MERGE,
        WriteKind.CREATE_TABLE_AS,
        WriteKind.REPLACE_TABLE_AS,
    }
)


class WriteState(StrEnum):
    """How a write ended, as far as is known.

    `RUNNING` and `UNKNOWN` are not final: the second is a write whose engine or replica was lost, until the
    table's snapshots tell.
    """

    RUNNING = "RUNNING"
    COMMITTED = "COMMITTED"
    NOT_COMMITTED = "NOT_COMMITTED"
    UNKNOWN = "UNKNOWN"

    @property
    def is_final(self) -> bool:
        """Whether the state never changes again."""
        return self in (WriteState.COMMITTED, WriteState.NOT_COMMITTED)


@dataclass(frozen=True, slots=True)
class Write:
    """The change of a statement: its kind, and the table that it changes; of a schema, it is the table `*`.

    `reads` are the full names of the tables that it reads, for the audit log alone. `call` is the procedure
    that the gateway runs itself, and `renamed_to` the new name of a table or view. Records keep none of them.
    """

    kind: WriteKind
    table: TableName
    reads: tuple[str, ...] = ()
    call: ProcedureCall | None = None
    renamed_to: TableName | None = None

    @property
    def changed(self) -> tuple[TableName, ...]:
        """The table, and its new name if it gets one."""
        return (self.table,) if self.renamed_to is None else (self.table, self.renamed_to)

    @property
    def has_snapshot(self) -> bool:
        """Whether its commit is a snapshot of the table, which carries the mark of the query."""
        return self.kind.has_snapshot


BeginWrite = Callable[[Write], None]
"""Called when a write is allowed and admitted, before the engine changes anything. An error stops it."""


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    """The end of a write.

    `rows_affected` is None if the snapshot does not say it, and `snapshot_id` if nothing had to be committed.
    """

    state: WriteState
    snapshot_id: int | None = None
    rows_affected: int | None = None


@dataclass(frozen=True, slots=True)
class WriteRecord:
    """A write as the metrics store keeps it: written before it begins, and again at its end.

    After `ends_by`, and some grace, no engine works on it any more. `error_code` and `error_detail` are those
    of a write that was not committed.
    """

    query_id: UUID
    caller: str
    write: Write
    started_at: datetime
    ends_by: datetime
    request_id: UUID | None = None
    fingerprint: str = ""
    outcome: WriteOutcome = WriteOutcome(WriteState.RUNNING)
    error_code: str | None = None
    error_detail: str | None = None

    @property
    def state(self) -> WriteState:
        """How it ended, as far as is known."""
        return self.outcome.state
