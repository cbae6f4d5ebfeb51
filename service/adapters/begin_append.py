"""Beginning a snapshot that adds files to a branch."""

from __future__ import annotations

from collections.abc import Mapping

from pyiceberg.table import Table, Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.refs import MAIN_BRANCH
from pyiceberg.table.update.snapshot import UpdateSnapshot, _FastAppendFiles


def begin_append(table: Table, branch: str, summary: Mapping[str, str]) -> _FastAppendFiles:
    """A snapshot without files yet; a branch that is not there begins with what `main` has now."""
    transaction = _Reading(table, _with_branch(table.metadata, branch))
    return UpdateSnapshot(transaction, table.io, branch, dict(summary)).fast_append()


class _Reading(Transaction):
    """A transaction that nothing is ever staged in.

    PyIceberg's own copies the metadata, every snapshot in it, each time when somebody looks at it, a dozen
    times for each snapshot made: most of the time that a commit to a table with a hundred snapshots takes.
    """

    def __init__(self, table: Table, metadata: TableMetadata) -> None:
        super().__init__(table)
        self._metadata = metadata

    @property
    def table_metadata(self) -> TableMetadata:
        return self._metadata


def _with_branch(metadata: TableMetadata, branch: str) -> TableMetadata:
    main = metadata.refs.get(MAIN_BRANCH)
    if branch in metadata.refs or main is None:
        return metadata
    return metadata.model_copy(update={"refs": {**metadata.refs, branch: main}})
