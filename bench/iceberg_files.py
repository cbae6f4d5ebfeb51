"""Puts rows into an Iceberg table as files of the bench's own making, all in one manifest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.manifest import DataFile
from pyiceberg.partitioning import PartitionFieldValue, PartitionKey
from pyiceberg.table import Transaction
from pyiceberg.table.metadata import TableMetadata

from service.adapters.tpcds.daily_files import _DailyWriter

Part = tuple[PartitionKey, pa.Table]


def parts(table: TableMetadata, rows: pa.Table) -> Iterator[Part]:
    """The rows of each partition of the table's only partition field, by its transform."""
    schema, spec = table.schema(), table.spec()
    (field,) = spec.fields
    source = schema.find_field(field.source_id)
    column = rows[source.name].combine_chunks()
    transformed = field.transform.pyarrow_transform(source.field_type)(column)
    ordered = rows.append_column("partition", transformed).sort_by("partition")
    start = 0
    for run in pc.value_counts(ordered["partition"]).to_pylist():
        part = ordered.slice(start, run["counts"]).drop_columns("partition")
        # The key transforms by itself: any value of the partition will do.
        value = PartitionFieldValue(field, part[source.name][0].as_py())
        yield PartitionKey([value], spec, schema), part
        start += run["counts"]


def append_files(transaction: Transaction, files: Iterable[Part]) -> None:
    """Each part as a file of its own, in one snapshot with one new manifest."""
    with ThreadPoolExecutor() as pool:
        written = list(pool.map(lambda part: _written(transaction, *part), files))
    with transaction.update_snapshot().fast_append() as snapshot:
        for each in written:
            snapshot.append_data_file(each)


def _written(transaction: Transaction, key: PartitionKey, rows: pa.Table) -> DataFile:
    # A writer gives all its files one name: several of one partition take several writers.
    return _DailyWriter(transaction.table_metadata, transaction._table.io).write(key, rows)
