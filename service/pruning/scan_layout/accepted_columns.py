"""By which columns can a scan of a table be pruned before its rows are read?"""

from __future__ import annotations

from service.model.tables.tables import TableFacts, TableSource

_MOMENTS = ("timestamp", "timestamptz")


def accepted_columns(facts: TableFacts) -> frozenset[str]:
    """Returns the columns, in lower case, that dynamic filters are accepted on.

    These are the source columns of partition fields (any transform, any spec that files may still have) and
    of the sort order, and columns with a bloom filter in each file, if what the files say about them is
    reliable. A table of files accepts the columns that its folders are named by. A table of any other source
    accepts none.

    Source: FLIP-248, `SupportsDynamicFiltering.listAcceptedFilterFields`.
    """
    if facts.source is TableSource.OTHER:
        return frozenset()
    partition = (field.source for field in (*facts.partition_fields, *facts.past_partition_fields))
    sort = (field.source for field in facts.sort_fields)
    named = frozenset(column.lower() for column in (*partition, *sort, *facts.bloom_filter_columns))
    return named - ambiguous_columns(facts)


def ambiguous_columns(facts: TableFacts) -> frozenset[str]:
    """Returns the columns, in lower case, whose statistics or bloom filters in files are not reliable.

    Iceberg 1.12 reads the milliseconds in the statistics of imported files as microseconds. It fails on a
    file whose bloom filter has decimals with fewer digits than a key has; a file keeps its bloom filter after
    the table's property for it is gone.
    """
    moments = (column.name for column in facts.columns if column.type_name in _MOMENTS)
    ambiguous = (*(moments if facts.has_imported_files else ()), *facts.widened_columns)
    return frozenset(name.lower() for name in ambiguous)
