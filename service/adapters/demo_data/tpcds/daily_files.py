"""Adds a fact's rows with one data file for each value of its partition key."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import (
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
    schema_to_pyarrow,
)
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.partitioning import PartitionFieldValue, PartitionKey
from pyiceberg.table import Transaction
from pyiceberg.table.locations import load_location_provider
from pyiceberg.table.metadata import TableMetadata

COMPRESSION = "zstd"


def append_daily_files(transaction: Transaction, rows: pa.Table) -> None:
    """Adds the rows in one snapshot, one file for each value of the single identity partition field.

    PyIceberg's own `append` takes twice the time for a fact of 1,800 small files, and filters all rows once
    for each of them: a minute for three million rows. The files of a failed call are removed.
    """
    # PyIceberg has no public access to the files of a table that is not committed yet.
    writer = _DailyWriter(transaction.table_metadata, transaction._table.io)
    try:
        with ThreadPoolExecutor() as pool:
            data_files = list(pool.map(writer.write, *zip(*writer.days(rows), strict=True)))
        with transaction.update_snapshot().fast_append() as snapshot:
            for file in data_files:
                snapshot.append_data_file(file)
    except BaseException:
        writer.remove_all()
        raise


class _DailyWriter:
    """Writes Parquet files with the table's schema, spec and location."""

    def __init__(self, metadata: TableMetadata, file_io: FileIO) -> None:
        self._file_io = file_io
        self._schema = metadata.schema()
        self._spec = metadata.spec()
        self._arrow_schema = schema_to_pyarrow(self._schema)
        self._statistics_plan = compute_statistics_plan(self._schema, metadata.properties)
        self._field_ids = parquet_path_to_id_mapping(self._schema)
        self._locations = load_location_provider(metadata.location, metadata.properties)
        self._name = f"{uuid4()}.parquet"
        self._paths: list[str] = []

    def days(self, rows: pa.Table) -> Iterator[tuple[PartitionKey, pa.Table]]:
        """Yields the rows of each day, ordered by day; rows without a day come last."""
        (field,) = self._spec.fields
        column = self._schema.find_field(field.source_id).name
        ordered = rows.sort_by(column)
        start = 0
        for run in pc.value_counts(ordered[column]).to_pylist():
            value = PartitionFieldValue(field, run["values"])
            yield PartitionKey([value], self._spec, self._schema), ordered.slice(start, run["counts"])
            start += run["counts"]

    def write(self, key: PartitionKey, rows: pa.Table) -> DataFile:
        """Writes one file. Thread-safe."""
        path = self._locations.new_data_location(self._name, key)
        self._paths.append(path)
        output = self._file_io.new_output(path)
        with (
            output.create() as stream,
            pq.ParquetWriter(
                stream, self._arrow_schema, compression=COMPRESSION, store_decimal_as_integer=True
            ) as parquet,
        ):
            parquet.write_table(rows)
        statistics = data_file_statistics_from_parquet_metadata(
            parquet.writer.metadata, self._statistics_plan, self._field_ids
        )
        data_file = DataFile.from_args(
            content=DataFileContent.DATA,
            file_path=path,
            file_format=FileFormat.PARQUET,
            partition=key.partition,
            file_size_in_bytes=len(output),
            **statistics.to_serialized_dict(),
        )
        data_file.spec_id = self._spec.spec_id  # from_args ignores it
        return data_file

    def remove_all(self) -> None:
        """Removes the files written so far."""
        for path in self._paths:
            with suppress(OSError):
                self._file_io.delete(path)
