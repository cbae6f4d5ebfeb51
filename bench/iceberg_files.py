"""Puts rows into an Iceberg table as files that the bench writes itself, all in one manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.partitioning import PartitionFieldValue, PartitionKey
from pyiceberg.table import Transaction
from pyiceberg.table.metadata import TableMetadata

from service.adapters.demo_data.tpcds.daily_files import _DailyWriter

Part = tuple[PartitionKey, pa.Table]


def parts(table: TableMetadata, rows: pa.Table) -> Iterator[Part]:
    """Yields the rows of each partition of the table's only partition field, by its transform."""
    schema, spec = table.schema(), table.spec()
    (field,) = spec.fields
    source = schema.find_field(field.source_id)
    column = rows[source.name]
    transformed = field.transform.pyarrow_transform(source.field_type)(column)
    ordered = rows.append_column("partition", transformed).sort_by("partition")
    start = 0
    for run in pc.value_counts(ordered["partition"]).to_pylist():
        part = ordered.slice(start, run["counts"]).drop_columns("partition")
        value = PartitionFieldValue(field, run["values"])
        yield PartitionKey([value], spec, schema), part
        start += run["counts"]


def slices(table: TableMetadata, rows: pa.Table, count: int) -> Iterator[Part]:
    """Yields the rows of an unpartitioned table in `count` parts, in their order."""
    step = -(-rows.num_rows // count)
    for start in range(0, rows.num_rows, step):
        yield PartitionKey([], table.spec(), table.schema()), rows.slice(start, step)


def append_files(transaction: Transaction, files: Iterable[Part]) -> None:
    """Adds each part as a file of its own, in one snapshot with one new manifest."""
    writers = _Writers(transaction)
    with ThreadPoolExecutor() as pool:
        written = list(pool.map(lambda pair: pair[0].write(*pair[1]), writers.each_with(files)))
    with transaction.update_snapshot().fast_append() as snapshot:
        for file in written:
            snapshot.append_data_file(file)


class _Writers:
    """A writer gives all its files one name, so several files of a partition need several writers."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._writers: list[_DailyWriter] = []
        self._counts: Counter[str] = Counter()

    def each_with(self, files: Iterable[Part]) -> Iterator[tuple[_DailyWriter, Part]]:
        for key, rows in files:
            yield self._next(key.to_path()), (key, rows)

    def _next(self, folder: str) -> _DailyWriter:
        number = self._counts[folder]
        self._counts[folder] += 1
        if number == len(self._writers):
            transaction = self._transaction
            self._writers.append(_DailyWriter(transaction.table_metadata, transaction._table.io))
        return self._writers[number]
