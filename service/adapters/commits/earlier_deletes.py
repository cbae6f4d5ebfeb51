"""Repeats an upsert's deletes for rows under earlier partition specs of the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table import Table

from service.adapters.commits.writable_tables import writer_state
from service.adapters.data_files.layout.pieces import chunks
from service.adapters.data_files.plan.file_plan import FilePlan
from service.adapters.data_files.read_back.uncommitted_rows import written_batches
from service.adapters.data_files.writer.file_set import FileSet
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.errors.ingest_errors import (
    SEND_ALONE_AGAIN,
    CommittableUnreadable,
    IngestInvalid,
    UpsertNotPossible,
)
from service.model.ingest.writing import WriteResult, WriteTarget

# Keys are small, and rounds of several tables are committed at once.
_BOUNDS = WriteBounds(buffered_bytes=16 * 1024**2)


def earlier_deletes(
    table: Table, results: Iterable[WriteResult], specs: Iterable[PartitionSpec]
) -> Iterator[str]:
    """Writes the keys of these results under each of the specs; yields the files as Iceberg's JSON.

    An equality delete applies only to files of its own spec and partition, or to all files if its spec has no
    partitions. The keys determine the partition under an earlier spec if its source columns are among them.
    Source: the Iceberg table specification, "Scan Planning".

    Raises:
        UpsertNotPossible: the source columns are not among the keys; the error names the upsert's delete
            files.
        WrittenFileMissing, CommittableUnreadable: delete files cannot be read; the error names those of the
            upsert.
        StorageDown: the storage does not return them.
    """
    upserts = [result for result in results if result.delete_files]
    for spec in specs:
        for upsert in upserts:
            yield from _written(table, spec, upsert.target, upsert.delete_files)


def _written(
    table: Table, spec: PartitionSpec, target: WriteTarget, delete_files: Sequence[str]
) -> list[str]:
    name = ".".join(table.name())
    try:
        plan = FilePlan.of_deletes(replace(writer_state(table), spec=spec), target)
        files = FileSet(plan, _BOUNDS)
        try:
            # Each delete file has keys of many of these partitions. Written together, they make about one
            # file per partition.
            keys = written_batches(plan.state, plan.schema, delete_files, name)
            for chunk in chunks(keys, _BOUNDS.buffered_bytes):
                files.write(plan.shape.table(chunk))
            return [file.content for file in files.close()]
        except BaseException:
            files.delete()
            raise
    except IngestInvalid as error:
        raise UpsertNotPossible(
            f"{name} holds files of an earlier partition spec, which the deletes of this "
            f"upsert do not reach: {error.detail} Compact it first. {SEND_ALONE_AGAIN}",
            delete_files,
        ) from error
    except CommittableUnreadable as error:
        raise type(error)(error.detail, delete_files) from error
