"""What happened to a table between two of its snapshots?"""

from __future__ import annotations

from service.model.query.refresh import NotRefreshable, RefreshOutcome
from service.model.tables.tables import TableFacts

APPEND = "append"


def check_growth(facts: TableFacts, since: int | None) -> None:
    """Checks that every commit from this snapshot to the table's current one only added files.

    Raises:
        NotRefreshable: there was another commit, or the history does not lead back to the snapshot.
    """
    by_id = {snapshot.snapshot_id: snapshot for snapshot in facts.snapshots}
    current = facts.snapshot_id
    for _ in range(len(by_id) + 1):
        if current == since:
            return
        snapshot = None if current is None else by_id.get(current)
        if snapshot is None:
            break
        if snapshot.operation != APPEND:
            raise NotRefreshable(RefreshOutcome.NOT_APPENDED)
        current = snapshot.parent_id
    raise NotRefreshable(RefreshOutcome.HISTORY_GONE)
