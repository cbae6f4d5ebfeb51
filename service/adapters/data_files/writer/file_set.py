"""All files of one write."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from uuid import uuid4

import pyarrow as pa
from pyiceberg.io import FileIO

from service.adapters.data_files.layout.partitions import PartitionValues
from service.adapters.data_files.layout.pieces import pieces
from service.adapters.data_files.layout.sorting import sorted_rows
from service.adapters.data_files.metrics.content_files import partition_json
from service.adapters.data_files.plan.cached_io import cached_io
from service.adapters.data_files.plan.file_plan import FilePlan
from service.adapters.data_files.plan.locations import Locations
from service.adapters.data_files.writer.open_file import OpenFile, WrittenFile
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.errors.ingest_errors import IngestInvalid, RecordsInvalid


class FileSet:
    """Complete files, and a bounded number of open ones, at most one for each partition.

    `open_at_most` may be changed between writes.
    """

    def __init__(self, plan: FilePlan, bounds: WriteBounds) -> None:
        self._plan = plan
        self._files_at_most = bounds.files
        self.open_at_most = bounds.open_files
        self._io = cached_io(plan.state)
        self._locations = Locations(plan.state, uuid4())
        self._open: OrderedDict[PartitionValues, OpenFile] = OrderedDict()
        self._written: list[WrittenFile] = []
        self._started: list[str] = []

    @property
    def open_count(self) -> int:
        """How many files are open."""
        return len(self._open)

    def close_oldest(self) -> None:
        """Completes the least recently written open file."""
        self._close(next(iter(self._open)))

    def write(self, rows: pa.Table) -> None:
        """Writes the rows into files of their partitions; if the plan is sorted, these rows are sorted.

        Raises:
            RecordsInvalid: a value cannot be a partition value.
            IngestInvalid: the rows would need more files than allowed.
        """
        for partition, part in self._plan.partitioning.parts(rows):
            if self._plan.is_sorted:
                self._write_part(partition, sorted_rows(part, self._plan.sort_order, self._plan.places))
                # The next rows are sorted only among themselves.
                self._close(partition)
            else:
                self._write_part(partition, part)

    def close(self) -> list[WrittenFile]:
        """Completes the open files, and returns all files."""
        for partition in list(self._open):
            self._close(partition)
        return self._written

    def delete(self) -> None:
        """Deletes every file of this write, complete or not."""
        for open_file in self._open.values():
            # Its error is ignored: the earlier failure is the one to report.
            with suppress(OSError, ValueError, pa.ArrowException):
                open_file.give_up()
        delete_files(self._io, self._started)

    def _write_part(self, partition: PartitionValues, rows: pa.Table) -> None:
        for row_group in self._row_groups(rows):
            if partition not in self._open:
                self._start(partition, row_group)
            self._open.move_to_end(partition)
            self._open[partition].write(row_group)
            if self._open[partition].is_full:
                self._close(partition)

    def _start(self, partition: PartitionValues, first: pa.Table) -> None:
        if len(self._started) >= self._files_at_most:
            raise IngestInvalid(
                f"The rows need more than {self._files_at_most} files, at least one for each partition:"
                " send rows of fewer partitions at once."
            )
        while len(self._open) >= self.open_at_most:
            self.close_oldest()
        state = self._plan.state
        try:
            values = partition_json(state.spec, state.schema, partition)
            location = self._locations.new(partition)
        except (ValueError, OverflowError) as error:
            raise RecordsInvalid(f"There is no partition for {partition!s:.200}: {error}") from error
        self._started.append(location)
        self._open[partition] = OpenFile(self._plan, self._io, location, values, first)

    def _close(self, partition: PartitionValues) -> None:
        if partition in self._open:
            self._written.append(self._open[partition].close())
            # Open until now, so that a failed file is given up.
            del self._open[partition]

    def _row_groups(self, rows: pa.Table) -> Iterator[pa.Table]:
        properties = self._plan.properties
        # Not larger than a file may be, so that a file stays below twice the table's target.
        most = min(properties.row_group_bytes, properties.target_file_bytes)
        yield from pieces(rows, most, properties.row_group_rows)


def delete_files(io: FileIO, locations: Iterable[str]) -> None:
    """Deletes these files. A file that cannot be deleted now is left to the removal of orphan files."""
    for location in locations:
        with suppress(OSError):
            io.delete(location)
