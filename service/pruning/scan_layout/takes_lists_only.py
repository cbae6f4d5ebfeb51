"""Can only lists of values prune by a column?"""

from __future__ import annotations

from service.model.tables.tables import TableFacts


def takes_lists_only(facts: TableFacts, column: str) -> bool:
    """Whether files differ only by hashes of the column; a range has no hash.

    The sort order, and partition fields of any other transform, keep neighbours together.
    """
    fields = (*facts.partition_fields, *facts.past_partition_fields)
    transforms = {each.transform for each in fields if each.source.lower() == column.lower()}
    has_order = any(each.source.lower() == column.lower() for each in facts.sort_fields)
    has_bloom_filter = column.lower() in (each.lower() for each in facts.bloom_filter_columns)
    is_hashed = bool(transforms) or has_bloom_filter
    return is_hashed and not has_order and all(each.startswith("bucket[") for each in transforms)
