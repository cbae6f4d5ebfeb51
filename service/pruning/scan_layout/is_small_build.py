"""Is a table small enough to collect keys from?"""

from __future__ import annotations

from service.model.tables.tables import TableFacts, TableSource

# The assumed size of a row where rows are not counted.
ROW_BYTES = 16
# All of them are listed again after the query has run, to check that they are still the same.
MAX_UNPINNED_FILES = 1_000


def is_small_build(facts: TableFacts, max_build_rows: int) -> bool:
    """Whether a table has at most `max_build_rows` rows, and can be read twice with the same result.

    A table without snapshots must have so few files that a change of any of them is detected.
    """
    match facts.source:
        case TableSource.ICEBERG:
            return facts.record_count <= max_build_rows
        case TableSource.FILES:
            row_count = facts.record_count or facts.total_bytes // ROW_BYTES
            return row_count <= max_build_rows and facts.data_file_count <= MAX_UNPINNED_FILES
        case TableSource.OTHER:
            return False
