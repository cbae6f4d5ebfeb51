"""Can only lists of values prune by a column?"""

from __future__ import annotations

from service.model.tables.tables import TableFacts


def takes_lists_only(facts: TableFacts, column: str) -> bool:
    """Whether files differ only by hashes of the column; a range has no hash.

    The sort order, and partition fields of any other transform, keep neighbours together.
    """
    fields = (*facts.partition_fields, *facts.past_partition_fields)
    transforms = {field.transform for field in fields if field.source.lower() == column.lower()}
    has_order = any(field.source.lower() == column.lower() for field in facts.sort_fields)
    has_bloom_filter = column.lower() in (name.lower() for name in facts.bloom_filter_columns)
    is_hashed = bool(transforms) or has_bloom_filter
    return is_hashed and not has_order and all(transform.startswith("bucket[") for transform in transforms)
