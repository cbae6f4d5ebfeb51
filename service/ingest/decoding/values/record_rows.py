"""Converts records, which are values by name, one by one, and groups them by target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa

from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.rows import BadRow, Position, Rows, TargetRows
from service.ingest.decoding.values.change_values import row_values
from service.ingest.decoding.values.invalid_partition_values import invalid_partition_values
from service.ingest.decoding.values.marked_rows import row_schema
from service.ingest.decoding.values.nested_values import struct_values
from service.ingest.decoding.values.scalar_values import Convert
from service.model.tables.schemas import Field

BATCH_ROWS = 10_000


class RecordRows:
    """A collector of records, whose rows `batches` returns; `values` makes the converter of a target.

    `heading` has to come before a record to make it a complete body.

    Raises:
        IngestInvalid: a field has a type that JSON cannot represent.
    """

    def __init__(
        self,
        plan: ReadPlan,
        values: Callable[[Sequence[Field]], Convert] = struct_values,
        heading: bytes = b"",
    ) -> None:
        self._heading = heading
        self._route = plan.route
        # After a heading, records leave out what is NULL.
        leaves_out_nulls = bool(heading)
        self._converts = [
            row_values(target, values, leaves_out_nulls=leaves_out_nulls) for target in plan.targets
        ]
        self._names = [_read_names(target) for target in plan.targets]
        self._has_rest = [target.rest is not None for target in plan.targets]
        self._schemas = [row_schema(target) for target in plan.targets]
        self._partitions = [target.partition for target in plan.targets]
        self._rows: list[list[object]] = [[] for _ in plan.targets]
        # Records as they were sent, for targets whose rows may turn out to have no partition.
        self._sent: list[list[tuple[Position, bytes]]] = [[] for _ in plan.targets]

    def take(self, record: object, position: Position, payload: bytes) -> BadRow | None:
        """Collects a record, or returns what is wrong with it; then it is not among the rows."""
        target: int | None = None
        try:
            target = self._target(record)
            rows = self._converts[target](self._without_route(record, target))
        except ValueError as reason:
            return BadRow(position, _storable(str(reason)), self._heading + payload, target)
        self._rows[target] += rows
        if self._partitions[target].fields:
            self._sent[target] += [(position, payload)] * len(rows)
        return None

    def batches(self) -> Iterator[Rows]:
        """Yields all rows since the last call; records with rows without a partition are bad."""
        for target, rows in enumerate(self._rows):
            sent, self._rows[target], self._sent[target] = self._sent[target], [], []
            start = 0
            for end in _ends(len(rows), sent):
                batch = pa.RecordBatch.from_pylist(rows[start:end], schema=self._schemas[target])
                yield from self._with_partition(target, batch, sent[start:end])
                start = end

    def _with_partition(
        self, target: int, batch: pa.RecordBatch, sent: Sequence[tuple[Position, bytes]]
    ) -> Iterator[Rows]:
        invalid_values = invalid_partition_values(batch, self._partitions[target])
        reasons = {sent[row]: reason for row, reason in sorted(invalid_values.items(), reverse=True)}
        for (position, payload), reason in sorted(reasons.items(), key=lambda bad: bad[0][0].number):
            yield BadRow(position, reason, self._heading + payload, target)
        good = [row for row in range(batch.num_rows) if sent[row] not in reasons] if reasons else None
        if good is None:
            yield TargetRows(target, batch)
        elif good:
            yield TargetRows(target, batch.take(pa.array(good, pa.int32())))

    def _target(self, record: object) -> int:
        if self._route is None:
            return 0
        if not isinstance(record, Mapping):
            raise ValueError("an object is wanted")
        value = record.get(self._route.field)
        target = self._route.target(value)
        if target is None:
            raise ValueError(f"{self._route.field}: there is no route for {value!r:.60}")
        return target

    def _without_route(self, record: object, target: int) -> object:
        if self._route is None or self._has_rest[target] or not isinstance(record, Mapping):
            return record
        if self._route.field in self._names[target]:
            return record
        return {name: value for name, value in record.items() if name != self._route.field}


def _read_names(target: ReadTarget) -> frozenset[str]:
    """Returns the names that the target's converter takes, even if one is also the field of the route."""
    names = {field.name for field in target.fields}
    if target.deletes is not None and target.deletes.when is not None:
        names.add(target.deletes.when.field)
    return frozenset(names)


def _ends(row_count: int, sent: Sequence[tuple[Position, bytes]]) -> Iterator[int]:
    """Yields the ends of batches. Rows of one record, if it is known, stay in one batch."""
    end = 0
    while end < row_count:
        end = min(end + BATCH_ROWS, row_count)
        while sent and end < row_count and sent[end][0] == sent[end - 1][0]:
            end += 1
        yield end


def _storable(reason: str) -> str:
    # JSON can spell a name with a lone surrogate, which no file and no answer can hold.
    return reason.encode(errors="replace").decode()
