"""Rows of many targets into data files at once, within one bound: the gateway and every executor run it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

import pyarrow as pa

from service.adapters.data_files.file_plan import FilePlan
from service.adapters.data_files.file_set import FileSet
from service.adapters.data_files.pieces import BATCH_BYTES, pieces
from service.adapters.data_files.upsert_files import UpsertFiles, check_kept
from service.adapters.data_files.write_bounds import WriteBounds
from service.adapters.data_files.writer_state import WriterState
from service.model.writing import Destination, WriteResult, WriteTarget


def write_fan(rows: Iterable[tuple[Destination, pa.RecordBatch]], bounds: WriteBounds) -> list[WriteResult]:
    """Puts each target's rows, which have its columns in its order, into files that no table knows of yet.

    Targets are those that rows come with, as they come. Of upserts the last row of each key is written, as in
    `write_data_files`. Either all files are there in the end, or none.

    Raises:
        IngestInvalid: no files can be written for a target.
        RecordsInvalid: a value does not fit its column.
        OSError: a storage does not take the files.
    """
    fan = _Fan(bounds)
    try:
        for destination, batch in rows:
            fan.add(destination, batch)
        return fan.close()
    except BaseException:
        fan.delete()
        raise


@dataclass(slots=True)
class _Lane:
    """One target's files, and the rows that wait for them."""

    target: WriteTarget
    plan: FilePlan
    files: FileSet | UpsertFiles
    batches: list[pa.RecordBatch] = field(default_factory=list)
    byte_count: int = 0


class _Fan:
    def __init__(self, bounds: WriteBounds) -> None:
        self._bounds = bounds
        # Those that were written to last come last.
        self._lanes: OrderedDict[WriteTarget, _Lane] = OrderedDict()
        self._buffered_bytes = 0

    def add(self, destination: Destination, batch: pa.RecordBatch) -> None:
        lane = self._lanes.get(destination.target) or self._new_lane(destination)
        for piece in pieces(batch, self._bounds.buffered_bytes):
            piece_bytes = max(piece.nbytes, BATCH_BYTES)
            while self._buffered_bytes and self._buffered_bytes + piece_bytes > self._bounds.buffered_bytes:
                # The largest, so that files are few and their row groups large.
                self._flush(max(self._lanes.values(), key=lambda each: each.byte_count))
            lane.batches.append(piece)
            lane.byte_count += piece_bytes
            self._buffered_bytes += piece_bytes

    def close(self) -> list[WriteResult]:
        results = []
        for lane in sorted(self._lanes.values(), key=lambda each: -each.files.open_count):
            self._flush(lane)
            results.append(_result(lane))
        return [each for each in results if each.record_count]

    def delete(self) -> None:
        for lane in self._lanes.values():
            lane.files.delete()

    def _new_lane(self, destination: Destination) -> _Lane:
        state, target = WriterState.decoded(destination.table.state), destination.target
        if target.is_upsert:
            upsert = UpsertFiles(state, target, self._bounds)
            lane = _Lane(target, upsert.plan, upsert)
        else:
            plan = FilePlan.of(state, target)
            lane = _Lane(target, plan, FileSet(plan, self._bounds.open_files))
        self._lanes[destination.target] = lane
        return lane

    def _flush(self, lane: _Lane) -> None:
        if not lane.batches:
            return
        lane.files.open_at_most = self._bounds.open_files - self._make_room(lane)
        lane.files.write(lane.plan.shape.table(lane.batches))
        self._check_kept()
        self._buffered_bytes -= lane.byte_count
        lane.batches, lane.byte_count = [], 0
        self._lanes.move_to_end(lane.target)

    def _check_kept(self) -> None:
        lanes = (each.files for each in self._lanes.values())
        check_kept(sum(each.kept_bytes for each in lanes if isinstance(each, UpsertFiles)), self._bounds)

    def _make_room(self, lane: _Lane) -> int:
        """Closes files of other lanes until one more may be open; how many of theirs still are."""
        others = [each for each in self._lanes.values() if each is not lane]
        open_count = sum(each.files.open_count for each in others)
        for each in others:
            while open_count >= self._bounds.open_files and each.files.open_count:
                # Upserts have no open files before their end.
                assert isinstance(each.files, FileSet)
                each.files.close_oldest()
                open_count -= 1
        return open_count


def _result(lane: _Lane) -> WriteResult:
    if isinstance(lane.files, UpsertFiles):
        return lane.files.close()
    written = lane.files.close()
    return WriteResult(
        lane.target,
        tuple(each.content for each in written),
        (),
        sum(each.record_count for each in written),
        sum(each.byte_count for each in written),
    )
