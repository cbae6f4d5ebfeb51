"""Says how many rows a write has changed, as far as its snapshot's summary knows."""

from __future__ import annotations

from collections.abc import Mapping

from service.model.writes.writes import WriteKind
from service.ports.stores.write_log import MarkedCommit

_ADDING = (
    WriteKind.INSERT,
    WriteKind.INSERT_OVERWRITE,
    WriteKind.CREATE_TABLE_AS,
    WriteKind.REPLACE_TABLE_AS,
)


def rows_affected(kind: WriteKind, commit: MarkedCommit) -> int | None:
    """Returns the number of rows that were inserted, deleted or updated; None if the summary does not say it.

    Copies of rows count as added and deleted, so that an UPDATE by copying files is not known.

    >>> added = MarkedCommit(1, {"added-records": "7"})
    >>> rows_affected(WriteKind.INSERT, added), rows_affected(WriteKind.MERGE, added)
    (7, None)
    >>> copied = MarkedCommit(1, {"deleted-records": "9", "added-records": "7"}, had_deletes=False)
    >>> rows_affected(WriteKind.DELETE, copied)
    2
    """
    added, deleted = _count(commit.summary, "added-records"), _count(commit.summary, "deleted-records")
    if kind in _ADDING:
        return added
    marked = _count(commit.summary, "added-position-deletes")
    if kind is WriteKind.UPDATE:
        return added if marked and not deleted else None
    if kind is not WriteKind.DELETE:
        return None
    if not deleted:
        # Earlier deletes of a file are written again, together with the new ones.
        return marked - _count(commit.summary, "removed-position-deletes")
    # Rows that earlier delete files hide are counted as rows of their data file.
    return deleted - added if not marked and commit.had_deletes is False else None


def _count(summary: Mapping[str, str], name: str) -> int:
    return int(summary.get(name, "0"))
