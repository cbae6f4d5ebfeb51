"""Can a filter save more than it costs?"""

from __future__ import annotations

from collections.abc import Iterable

from service.model.tables.tables import TableFacts

# What opening a data file costs, in bytes that could be read meanwhile.
FILE_OPEN_BYTES = 64 * 1024
# A build side that is read whole must be small beside the probe that it may spare.
LARGEST_BUILD_SHARE = 0.5


def is_worth_narrowing(probe: TableFacts, min_table_bytes: int) -> bool:
    """Whether the probe is large, so that keys which are there already pay. `min_table_bytes` 0: always."""
    return reading_cost(probe) >= min_table_bytes


def is_worth_collecting(probe: TableFacts, build: Iterable[TableFacts], min_table_bytes: int) -> bool:
    """Whether the probe is large, and the build side small beside it. `min_table_bytes` 0: always.

    Small files count more than their bytes: each must be opened.
    """
    if min_table_bytes == 0:
        return True
    largest_build = reading_cost(probe) * LARGEST_BUILD_SHARE
    return is_worth_narrowing(probe, min_table_bytes) and sum(map(reading_cost, build)) <= largest_build


def reading_cost(table: TableFacts) -> int:
    """What reading the whole table costs, in bytes."""
    return table.total_bytes + table.data_file_count * FILE_OPEN_BYTES
