"""Is a table one that keys may be collected from?"""

from __future__ import annotations

from service.model.tables.tables import TableFacts, TableSource

# Where nobody counts rows, they are taken to be this small.
ROW_BYTES = 16
# All of them are listed once more when the query has run, to see that they are still the same.
MAX_UNPINNED_FILES = 1_000


def is_small_build(facts: TableFacts, max_build_rows: int) -> bool:
    """Whether it is a table that can be read twice alike, with so many rows at most.

    Without snapshots that means: with so few files that a change of any of them is found out.
    """
    match facts.source:
        case TableSource.ICEBERG:
            return facts.record_count <= max_build_rows
        case TableSource.FILES:
            row_count = facts.record_count or facts.total_bytes // ROW_BYTES
            return row_count <= max_build_rows and facts.data_file_count <= MAX_UNPINNED_FILES
        case TableSource.OTHER:
            return False
