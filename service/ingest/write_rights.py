"""The rights that a write needs, of whoever sends it."""

from __future__ import annotations

from collections.abc import Iterable

from service.errors.policy_errors import TableAccessDenied
from service.model.ingest.ingest import OnError
from service.model.ingest.ingest_request import Write
from service.model.policies.actions import Action
from service.model.policies.decisions import Access, Refused
from service.model.tables.dead_letter_names import dead_letter_name
from service.model.tables.tables import TableName
from service.policies.require import require


def check_write_rights(writes: Iterable[Write], on_error: OnError, access: Access) -> None:
    """Checks that the writes' sender may append to their tables, or upsert into them.

    Raises:
        TableAccessDenied: it may not.
    """
    for table, is_upsert in dict.fromkeys((write.key.table, write.is_upsert) for write in writes):
        # An upsert replaces rows.
        require(access, Action.MODIFY if is_upsert else Action.INSERT, table)
        if on_error is OnError.DEAD_LETTER:
            _check_dead_letters(dead_letter_name(table), access)


def _check_dead_letters(table: TableName, access: Access) -> None:
    """Checks that no denial keeps dead letters away. Who may write to a table needs no grant for them."""
    decision = access.decide(Action.INSERT, table)
    if isinstance(decision, Refused) and decision.is_denied:
        raise TableAccessDenied(table, Action.INSERT)
