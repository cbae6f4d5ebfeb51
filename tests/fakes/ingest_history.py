"""The in-memory history of an ingest log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from service.model.ingest.ingest import IngestCommit, IngestRecord
from service.model.ingest.ingest_history import (
    IngestListing,
    IngestPosition,
    Spread,
    TableIngests,
)
from service.model.ingest.writing import Committable
from tests.fakes.ingest_log import FakeIngestLog
from tests.fakes.stream_store import FakeStreamStore


class FakeIngestHistory:
    def __init__(self, log: FakeIngestLog, streams: FakeStreamStore | None = None) -> None:
        self._log = log
        self._streams = streams or FakeStreamStore()

    def ingests(self, listing: IngestListing) -> Sequence[IngestRecord]:
        own = [record for record in self._log.records() if record.caller == listing.caller]
        newest_first = sorted(own, key=_position, reverse=True)
        return [record for record in newest_first if listing.takes(record)][: listing.limit]

    def tables(self, since: datetime, table: str | None) -> Sequence[TableIngests]:
        records = [record for record in self._log.records() if record.accepted_at >= since]
        names = {str(commit.key.table) for record in records for commit in record.commits}
        names |= {str(committable.key.table) for committable in self._log.committed}
        return [
            _ingests(name, records, self._log.committed) for name in sorted(names) if table in (None, name)
        ]

    def forget_before(self, moment: datetime, limit: int) -> int:
        ended = [record for record in self._log.records() if record.accepted_at < moment]
        due = [
            record.ingest_id for record in ended if not _waits(record) and not self._may_come_again(record)
        ]
        return self._log.forget(due[:limit])

    def _may_come_again(self, record: IngestRecord) -> bool:
        if record.stream_batch is None:
            return False
        checkpoint_id, batch_id = record.stream_batch.split("/")
        return not any(
            str(stream.checkpoint_id) == checkpoint_id
            and stream.last_batch_id is not None
            and stream.last_batch_id >= int(batch_id)
            for stream in self._streams.records.values()
        )


def _position(record: IngestRecord) -> IngestPosition:
    return IngestPosition(record.accepted_at, record.ingest_id)


def _waits(record: IngestRecord) -> bool:
    return any(commit.snapshot_id is None and commit.error_code is None for commit in record.commits)


def _ingests(name: str, records: Sequence[IngestRecord], rounds: Sequence[Committable]) -> TableIngests:
    of = [(record, part) for record in records for part in record.commits if str(part.key.table) == name]
    parts: list[IngestCommit] = [part for _, part in of]
    targets = [target for part in parts for target in part.targets]
    own = [round_ for round_ in rounds if str(round_.key.table) == name]
    return TableIngests(
        table=name,
        ingest_count=len({record.ingest_id for record, _ in of}),
        waiting_count=sum(part.snapshot_id is None and part.error_code is None for part in parts),
        failed_by_code=dict(Counter(part.error_code for part in parts if part.error_code)),
        record_count=sum(target.record_count for target in targets),
        data_file_count=sum(target.data_file_count for target in targets),
        byte_count=sum(target.byte_count for target in targets),
        write_ms=_spread([record.write_ms for record, _ in of]),
        round_count=len(own),
        ingests_in_rounds=sum(len(committable.ingest_ids) for committable in own),
        most_ingests_of_a_round=max((len(committable.ingest_ids) for committable in own), default=0),
        targets_in_rounds=sum(committable.target_count for committable in own),
    )


def _spread(values: Sequence[int]) -> Spread:
    ordered = sorted(values)
    if not ordered:
        return Spread()
    return Spread(*(ordered[-(-len(ordered) * share // 100) - 1] for share in (50, 95, 100)))
