"""Writes rows of many targets into data files at once, within one bound.

The gateway and every executor run it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pyarrow as pa

from service.adapters.data_files.layout.pieces import measured_pieces
from service.adapters.data_files.plan.writer_state import WriterState
from service.adapters.data_files.writer.lane_order import LaneOrder
from service.adapters.data_files.writer.target_files import TargetFiles, target_files
from service.adapters.data_files.writer.upsert_files import UpsertFiles, check_buffered
from service.adapters.data_files.writer.write_bounds import WriteBounds
from service.model.ingest.writing import Destination, WriteResult


def write_fan(rows: Iterable[tuple[Destination, pa.RecordBatch]], bounds: WriteBounds) -> list[WriteResult]:
    """Writes each target's rows, which have its columns in order, into files that no table knows of yet.

    The targets come with the rows. For upserts it writes the last row of each key, or the key's delete, as in
    `write_data_files`. If an upsert comes between rows of a target for the same table and branch, the target
    has two results: results are in the order in which they apply. If it fails, no file is left.

    Raises:
        IngestInvalid: no files can be written for a target.
        RecordsInvalid: a value does not fit its column.
        OSError: a storage does not accept the files.
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
    """One target's files, and the rows that wait for them. Later lanes have greater numbers."""

    number: int
    files: TargetFiles | UpsertFiles
    batches: list[pa.RecordBatch] = field(default_factory=list)
    byte_count: int = 0


class _Fan:
    def __init__(self, bounds: WriteBounds) -> None:
        self._bounds = bounds
        # Ordered by their last write, the latest last.
        self._lanes: OrderedDict[int, _Lane] = OrderedDict()
        self._order = LaneOrder()
        self._upserts: list[UpsertFiles] = []
        self._buffered_bytes = 0

    def add(self, destination: Destination, batch: pa.RecordBatch) -> None:
        number = self._order.lane_of(destination.target)
        lane = self._lanes.get(number) or self._new_lane(number, destination)
        for piece, piece_bytes in measured_pieces(batch, self._bounds.buffered_bytes):
            while self._buffered_bytes and self._buffered_bytes + piece_bytes > self._bounds.buffered_bytes:
                # The largest lane, so that files are few and their row groups large.
                self._flush(max(self._lanes.values(), key=lambda lane: lane.byte_count))
            lane.batches.append(piece)
            lane.byte_count += piece_bytes
            self._buffered_bytes += piece_bytes

    def close(self) -> list[WriteResult]:
        lanes = [self._lanes[number] for number in sorted(self._lanes)]
        # Lanes whose first rows are already in files; their open files count towards the common bound.
        begun = [lane for lane in lanes if lane.files.open_count]
        for lane in begun:
            self._flush(lane)
        results = {lane.number: lane.files.finish() for lane in begun}
        others = [lane for lane in lanes if lane.number not in results]
        finished = zip(others, self._finished_at_once(others), strict=True)
        results |= {lane.number: result for lane, result in finished}
        ordered = (results[lane.number] for lane in lanes)
        return [result for result in ordered if not result.is_empty]

    def delete(self) -> None:
        for lane in self._lanes.values():
            lane.files.delete()

    def _new_lane(self, number: int, destination: Destination) -> _Lane:
        state = WriterState.decoded(destination.table.state)
        lane = _Lane(number, target_files(state, destination.target, self._bounds))
        self._lanes[number] = lane
        if isinstance(lane.files, UpsertFiles):
            self._upserts.append(lane.files)
        return lane

    def _finished_at_once(self, lanes: Sequence[_Lane]) -> Sequence[WriteResult]:
        """Writes the waiting rows of these targets, several at once. None of them has an open file."""
        writers = min(self._bounds.writers, self._bounds.open_files, len(lanes))
        if writers < 2:
            return [self._finished(lane, self._bounds.open_files) for lane in lanes]
        may_open = self._bounds.open_files // writers
        with ThreadPoolExecutor(writers, thread_name_prefix="write") as pool:
            # After the first failure no further lane is begun; those already begun run to their end.
            return list(pool.map(lambda lane: self._finished(lane, may_open), lanes))

    def _finished(self, lane: _Lane, may_open: int) -> WriteResult:
        lane.files.allow_open(may_open)
        if lane.batches:
            lane.files.write(lane.batches)
            self._check_buffered()
            lane.batches = []
        return lane.files.finish()

    def _flush(self, lane: _Lane) -> None:
        if not lane.batches:
            return
        lane.files.allow_open(self._bounds.open_files - self._make_room(lane))
        lane.files.write(lane.batches)
        self._check_buffered()
        self._buffered_bytes -= lane.byte_count
        lane.batches, lane.byte_count = [], 0
        self._lanes.move_to_end(lane.number)

    def _check_buffered(self) -> None:
        check_buffered(sum(upsert.buffered_bytes for upsert in self._upserts), self._bounds)

    def _make_room(self, lane: _Lane) -> int:
        """Closes files of other lanes until one more may be open; returns how many of theirs still are."""
        others = [open_lane.files for open_lane in self._lanes.values() if open_lane is not lane]
        open_count = sum(other.open_count for other in others)
        for other in others:
            while open_count >= self._bounds.open_files and other.open_count:
                other.close_oldest()
                open_count -= 1
        return open_count
