"""How a filtered scan is cut into tasks: by what is left to read, not by what the table has."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from service.model.filters.file_sizes import FileShare
from service.model.tables.tables import TableFacts

KIB, MIB = 1024, 1024**2

# The cost of opening a file, in bytes that could be read in the same time. Measured on local disks; Iceberg's
# own default is made for object stores.
LOCAL_OPEN_COST = 128 * KIB
OPEN_COST = 4 * MIB
# Iceberg's default, and the size below which the overhead of a task exceeds its work.
LARGEST_SPLIT = 128 * MIB
SMALLEST_SPLIT = MIB
# Files are packed whole, so tasks of exactly a slot's share would leave one more, small task over.
SLACK = 1.1


def read_options(table: TableFacts, share: FileShare, slots: int) -> Mapping[str, str]:
    """Returns Iceberg's read options for a scan that has this share of the table's files left.

    The scan gets as many tasks as the engine has slots, but none larger than Iceberg would make it. Without
    the options, a few hundred small files would become one task for each 32, or a single task.

    Source: Iceberg's `file-open-cost` and `split-size`.
    """
    open_cost = LOCAL_OPEN_COST if _is_local(table.location) else OPEN_COST
    weight = max(table.total_bytes * share.of_bytes, ceil(table.data_file_count * share.of_files) * open_cost)
    split = min(max(int(weight / slots * SLACK), SMALLEST_SPLIT), LARGEST_SPLIT)
    return {"file-open-cost": str(open_cost), "split-size": str(split)}


def _is_local(location: str) -> bool:
    return location.startswith(("file:", "/"))
