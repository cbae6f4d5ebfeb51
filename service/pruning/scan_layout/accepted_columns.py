"""By which columns can a scan of a table be narrowed before its rows are read?"""

from __future__ import annotations

from service.model.tables.tables import TableFacts, TableSource

_MOMENTS = ("timestamp", "timestamptz")


def accepted_columns(facts: TableFacts) -> frozenset[str]:
    """The columns, in lower case, that dynamic filters are accepted on.

    Those that a partition field (any transform, any spec that files may still have) or the sort order is
    made from, and those with a bloom filter in each file, if what files say of them is sure. Of a table of
    files, the columns that its folders are named by; of a table of any other source, none.

    Source: FLIP-248, `SupportsDynamicFiltering.listAcceptedFilterFields`.
    """
    if facts.source is TableSource.OTHER:
        return frozenset()
    partition = (each.source for each in (*facts.partition_fields, *facts.past_partition_fields))
    sort = (each.source for each in facts.sort_fields)
    named = frozenset(each.lower() for each in (*partition, *sort, *facts.bloom_filter_columns))
    return named - unsure_columns(facts)


def unsure_columns(facts: TableFacts) -> frozenset[str]:
    """The columns, in lower case, of which files may seem not to hold what they hold, or cannot be asked.

    Iceberg 1.12 takes the milliseconds in the statistics of imported files for microseconds. It fails where
    a file's bloom filter is of decimals with fewer digits than a key has; a file keeps its bloom filter when
    the table's property for it is gone.
    """
    moments = (each.name for each in facts.columns if each.type_name in _MOMENTS)
    unsure = (*(moments if facts.has_imported_files else ()), *facts.widened_columns)
    return frozenset(each.lower() for each in unsure)
