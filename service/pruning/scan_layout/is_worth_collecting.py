"""Can a filter save more than it costs?"""

from __future__ import annotations

from collections.abc import Iterable

from service.model.tables.tables import TableFacts

# The cost of opening a data file, in bytes that could be read in the same time.
FILE_OPEN_BYTES = 64 * 1024
# A build side is read whole, so it must be small compared with the probe that it may prune.
LARGEST_BUILD_SHARE = 0.5


def is_worth_filtering(probe: TableFacts, min_table_bytes: int) -> bool:
    """Whether the probe is so large that a filter with cached keys pays. `min_table_bytes` 0: always."""
    return reading_cost(probe) >= min_table_bytes


def is_worth_collecting(probe: TableFacts, build: Iterable[TableFacts], min_table_bytes: int) -> bool:
    """Whether the probe is large, and the build side small compared with it. `min_table_bytes` 0: always.

    Small files count more than their bytes, because each must be opened.
    """
    if min_table_bytes == 0:
        return True
    largest_build = reading_cost(probe) * LARGEST_BUILD_SHARE
    return is_worth_filtering(probe, min_table_bytes) and sum(map(reading_cost, build)) <= largest_build


def reading_cost(table: TableFacts) -> int:
    """Returns the cost of reading the whole table, in bytes."""
    return table.total_bytes + table.data_file_count * FILE_OPEN_BYTES
