"""Will a later read of a table have the columns that its facts have?"""

from __future__ import annotations

from service.model.tables.tables import TableFacts, TableSource


def is_readable_again(facts: TableFacts) -> bool:
    """Whether the table can be pinned, or is of a source that has nothing to pin.

    A table without rows has no snapshot, and `VERSION AS OF` reads with the columns of the snapshot's time.
    """
    if facts.source is not TableSource.ICEBERG:
        return True
    return facts.snapshot_id is not None and facts.snapshot_schema_id == facts.schema_id
