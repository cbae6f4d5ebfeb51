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
        own = [each for each in self._log.records() if each.caller == listing.caller]
        newest_first = sorted(own, key=_position, reverse=True)
        return [each for each in newest_first if listing.takes(each)][: listing.limit]

    def tables(self, since: datetime, table: str | None) -> Sequence[TableIngests]:
        records = [each for each in self._log.records() if each.accepted_at >= since]
        names = {str(commit.key.table) for each in records for commit in each.commits}
        names |= {str(each.key.table) for each in self._log.committed}
        return [
            _ingests(name, records, self._log.committed) for name in sorted(names) if table in (None, name)
        ]

    def forget_before(self, moment: datetime, limit: int) -> int:
        ended = [each for each in self._log.records() if each.accepted_at < moment]
        due = [each.ingest_id for each in ended if not _waits(each) and not self._may_come_again(each)]
        return self._log.forget(due[:limit])

    def _may_come_again(self, record: IngestRecord) -> bool:
        if record.stream_batch is None:
            return False
        checkpoint_id, batch_id = record.stream_batch.split("/")
        return not any(
            str(each.checkpoint_id) == checkpoint_id
            and each.last_batch_id is not None
            and each.last_batch_id >= int(batch_id)
            for each in self._streams.records.values()
        )


def _position(record: IngestRecord) -> IngestPosition:
    return IngestPosition(record.accepted_at, record.ingest_id)


def _waits(record: IngestRecord) -> bool:
    return any(each.snapshot_id is None and each.error_code is None for each in record.commits)


def _ingests(name: str, records: Sequence[IngestRecord], rounds: Sequence[Committable]) -> TableIngests:
    of = [(each, part) for each in records for part in each.commits if str(part.key.table) == name]
    parts: list[IngestCommit] = [part for _, part in of]
    targets = [target for each in parts for target in each.targets]
    own = [each for each in rounds if str(each.key.table) == name]
    return TableIngests(
        table=name,
        ingest_count=len({each.ingest_id for each, _ in of}),
        waiting_count=sum(each.snapshot_id is None and each.error_code is None for each in parts),
        failed_by_code=dict(Counter(each.error_code for each in parts if each.error_code)),
        record_count=sum(each.record_count for each in targets),
        data_file_count=sum(each.data_file_count for each in targets),
        byte_count=sum(each.byte_count for each in targets),
        write_ms=_spread([each.write_ms for each, _ in of]),
        round_count=len(own),
        ingests_in_rounds=sum(len(each.ingest_ids) for each in own),
        most_ingests_of_a_round=max((len(each.ingest_ids) for each in own), default=0),
        targets_in_rounds=sum(each.target_count for each in own),
    )


def _spread(values: Sequence[int]) -> Spread:
    ordered = sorted(values)
    if not ordered:
        return Spread()
    return Spread(*(ordered[-(-len(ordered) * share // 100) - 1] for share in (50, 95, 100)))
