"""One Parquet file while it is being written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.io import FileIO

from service.adapters.data_files.metrics.content_files import content_file_json
from service.adapters.data_files.metrics.own_statistics import OwnStatistics
from service.adapters.data_files.plan.file_plan import FilePlan
from service.adapters.data_files.writer.turns import out_of_turn
from service.adapters.data_files.writer.variant_footer import AnnotatingStream
from service.errors.ingest_errors import IngestInvalid


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A complete file; `content` is its Iceberg JSON."""

    content: str
    record_count: int
    byte_count: int


class OpenFile:
    """Takes row groups, starting with `first`, until it is closed or given up."""

    def __init__(
        self, plan: FilePlan, io: FileIO, location: str, partition: Sequence[object], first: pa.Table
    ) -> None:
        self._location = location
        self._plan = plan
        self._partition = partition
        self._statistics = OwnStatistics(plan.places.values())
        self._schema = plan.shape.nearest(first.schema).filed
        options = plan.properties.parquet_options(plan.schema, self._schema, first)
        # Nothing exists there yet; `overwrite` saves the storage a check.
        with out_of_turn():
            self._stream: Any = io.new_output(location).create(overwrite=True)
        self._variants = AnnotatingStream(self._stream, plan.variant_ids) if plan.variant_ids else None
        try:
            self._writer = pq.ParquetWriter(self._variants or self._stream, self._schema, **options)
        except pa.ArrowNotImplementedError as error:
            # For example a struct without fields, which another writer may have added to the schema.
            self._stream.close()
            raise IngestInvalid(f"Parquet cannot hold these columns: {error!s:.300}") from error
        except BaseException:
            self._stream.close()
            raise

    @property
    def is_full(self) -> bool:
        """Whether it has reached the table's target size."""
        return bool(self._stream.tell() >= self._plan.properties.target_file_bytes)

    def write(self, row_group: pa.Table) -> None:
        """Adds these rows as one row group."""
        if not row_group.schema.equals(self._schema):
            # Later rows may have shorter or longer string offsets than the first.
            row_group = row_group.cast(self._schema)
        self._writer.write_table(row_group, row_group_size=row_group.num_rows)
        self._statistics.add(row_group)

    def close(self) -> WrittenFile:
        """Completes the file, and returns its description."""
        if self._variants is not None:
            self._variants.begin_end()
        self._writer.close()
        if self._variants is not None:
            self._variants.write_end()
        footer = self._writer.writer.metadata
        byte_count = self._stream.tell()
        with out_of_turn():
            self._stream.close()
        metrics = self._plan.metrics.metrics(footer, self._statistics)
        content = content_file_json(
            self._location,
            byte_count,
            self._plan.state.spec.spec_id,
            self._partition,
            self._plan.sort_order.order_id,
            metrics,
            self._plan.equality_field_ids,
        )
        return WrittenFile(content, metrics.record_count, byte_count)

    def give_up(self) -> None:
        """Closes the file as it is; its remains must be deleted."""
        try:
            self._writer.close()
        finally:
            self._stream.close()
