"""Reads the keys and orders of a round whose records have an order, a part of all keys at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import orjson
import pyarrow as pa
from pyiceberg.table import Table

from service.adapters.commits.superseding.key_columns import KeyColumns
from service.adapters.commits.superseding.read_ahead import read_ahead
from service.adapters.data_files.writer.key_parts import key_parts
from service.errors.ingest_errors import CommittableUnreadable
from service.model.ingest.writing import WriteResult, WriteTarget

OF, FILE, ROW, IS_DELETE = "\0of", "\0file", "\0row", "\0deletes"
"""Columns behind the keys and the order. No table has columns so named."""


@dataclass(frozen=True, slots=True)
class OrderedFiles:
    """The files of a round, and what their keys are read as.

    Each entry is a row of a data file or of a delete file: its key, its order, the write result that it is
    part `OF`, and its place, `FILE` and `ROW`. `IS_DELETE` says which kind of file it is in.
    """

    columns: KeyColumns
    target: WriteTarget
    """A target with the same keys and order, of the table as it is now."""
    files: tuple[tuple[int, str, bool], ...]

    @staticmethod
    def of(table: Table, target: WriteTarget, results: Sequence[WriteResult]) -> OrderedFiles:
        """Returns the files of these results. The table must accept them."""
        assert target.order_field_id is not None
        columns = KeyColumns.of(table, (*target.equality_field_ids, target.order_field_id))
        files = tuple(
            (number, file, is_delete)
            for number, result in enumerate(results)
            for is_delete, own in ((True, result.delete_files), (False, result.data_files))
            for file in own
        )
        return OrderedFiles(columns, target, files)

    @property
    def key_count(self) -> int:
        """How many keys the delete files have, each as often as a result has it.

        Raises:
            CommittableUnreadable: the description of a file cannot be understood.
        """
        return sum(_record_count(file) for _, file, is_delete in self.files if is_delete)

    def entries(self, part: int, part_count: int) -> Iterator[pa.RecordBatch]:
        """Yields the entries of one part of all keys. Entries of equal keys are in the same part.

        Raises:
            WrittenFileMissing, CommittableUnreadable: a file is at fault; the error names it.
            StorageDown: the storage does not return the files.
        """
        for place, batches in read_ahead(self.columns, [file for _, file, _ in self.files]):
            number, _, is_delete = self.files[place]
            start = 0
            for columns in batches:
                count = len(columns[0])
                batch = self._batch(columns, number, place, start, is_delete=is_delete)
                start += count
                yield from self._parts(batch, part, part_count)

    def _batch(
        self, columns: Sequence[pa.Array], number: int, place: int, start: int, *, is_delete: bool
    ) -> pa.RecordBatch:
        count = len(columns[0])
        known = [pa.repeat(pa.scalar(value, pa.int64()), count) for value in (number, place)]
        rows = pa.array(range(start, start + count), pa.int64())
        marks = pa.repeat(pa.scalar(is_delete), count)
        names = [field.name for field in self.columns.schema.fields]
        return pa.RecordBatch.from_arrays(
            [*columns, *known, rows, marks], names=[*names, OF, FILE, ROW, IS_DELETE]
        )

    def _parts(self, batch: pa.RecordBatch, part: int, part_count: int) -> Iterator[pa.RecordBatch]:
        if part_count == 1:
            yield batch
            return
        for number, rows in key_parts(self.columns.state, self.target, batch, part_count):
            if number == part:
                yield rows


def _record_count(file: str) -> int:
    try:
        return int(orjson.loads(file)["record-count"])
    except (ValueError, LookupError, TypeError) as error:
        raise CommittableUnreadable(data_files=[file]) from error
