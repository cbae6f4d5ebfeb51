"""Reads lines of JSON that delete by a field: with Arrow those that do not, the others one by one."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from service.ingest.decoding.json.fast_rows import FastRows
from service.ingest.decoding.json.json_lines import json_lines
from service.ingest.decoding.json.route_lines import LineGroup, LineRouter
from service.ingest.decoding.streams.plan import ReadPlan, ReadTarget
from service.ingest.decoding.streams.rows import BadRow
from service.ingest.decoding.values.marked_rows import marked
from service.ingest.decoding.values.record_rows import RecordRows
from service.model.ingest.ingest_request import Route
from service.model.ingest.record_deletes import DeleteWhen

_UPSERT, _DELETE = 0, 1


class ChangingLines:
    """A reader of lines for one target, whose records delete by `when`; it gives exactly the same rows."""

    def __init__(self, target: ReadTarget, when: DeleteWhen) -> None:
        self._target = target
        self._router = LineRouter(Route(when.field, dict.fromkeys(when.values, _DELETE), _UPSERT))
        self._upserts = FastRows(target.fields, when.field)
        self._deletes = RecordRows(ReadPlan((ReadTarget(target.fields, deletes=target.deletes),)))

    def read(self, lines: bytes, count: int) -> pa.RecordBatch | None:
        """Returns the marked rows of `count` lines, in their order; None where they are uncertain."""
        groups = self._router.groups(lines, 0)
        if groups is None or sum(len(group.lines) for group in groups) != count:
            return None
        found: list[pa.RecordBatch] = []
        for group in groups:
            rows = self._deleted(group) if group.target == _DELETE else self._upserted(group)
            if rows is None:
                return None
            found.append(rows)
        if len(found) == 1:
            return found[0]
        order = pc.sort_indices(
            pa.array([number for group in groups for number in group.numbers], pa.int64())
        )
        [batch] = pa.Table.from_batches(found).combine_chunks().take(order).combine_chunks().to_batches()
        return batch

    def _upserted(self, group: LineGroup) -> pa.RecordBatch | None:
        rows = self._upserts.read(b"\n".join(group.lines), len(group.lines))
        return None if rows is None else marked(rows, self._target.fields, is_delete=False)

    def _deleted(self, group: LineGroup) -> pa.RecordBatch | None:
        found: list[pa.RecordBatch] = []
        for rows in json_lines(zip(group.numbers, group.lines, strict=True), self._deletes):
            if isinstance(rows, BadRow):
                # The other way reports it, and reads the rows again.
                list(self._deletes.batches())
                return None
            found.append(rows.rows)
        [batch] = pa.Table.from_batches(found).combine_chunks().to_batches()
        return batch if batch.num_rows == len(group.lines) else None
