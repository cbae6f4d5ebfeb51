"""The places that replicas share for results, and rows that executors have written there."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit
from uuid import UUID, uuid4

import pyarrow as pa

from service.adapters.results.objects.bucket import Bucket
from service.adapters.results.objects.object_results import ObjectResultStore
from service.adapters.results.objects.store_access import StoreAccess
from service.adapters.results.result_store import FolderResultStore
from service.adapters.results.store_bounds import ResultBounds
from service.model.query.results import Column
from service.model.query.written_rows import Batch, Part, WrittenRows
from tests.fakes.clock import FakeClock
from tests.integration.object_store.server import ObjectStore

SharedStore = FolderResultStore | ObjectResultStore
TTL = timedelta(hours=1)
TICK = timedelta(milliseconds=1)
COLUMNS = (Column("n", "BIGINT", False), Column("t", "STRING", True))
SCHEMA = pa.schema([pa.field("n", pa.int64(), nullable=False), ("t", pa.string())])
PREFIX = "some/results"


class SharedPlace(Protocol):
    """Starts replicas, and does what executors do in the place of a query."""

    def replica(self, **bounds: int) -> SharedStore: ...

    def write(self, store: SharedStore, query_id: UUID, files: dict[str, bytes]) -> None: ...

    def names(self, query_id: UUID) -> set[str]: ...

    def entries(self) -> set[str]: ...


@dataclass(frozen=True)
class SharedFolder:
    folder: Path
    clock: FakeClock

    def replica(self, **bounds: int) -> FolderResultStore:
        within = ResultBounds(time_to_live=TTL, **bounds)  # type: ignore[arg-type]
        return FolderResultStore(self.folder, self.clock, within, is_shared=True)

    def write(self, store: SharedStore, query_id: UUID, files: dict[str, bytes]) -> None:
        place = store.place(query_id)
        assert place is not None
        path = Path(unquote(urlsplit(place.address).path))
        path.mkdir(exist_ok=True)
        for name, data in files.items():
            (path / name).write_bytes(data)

    def names(self, query_id: UUID) -> set[str]:
        path = self.folder / str(query_id)
        return {file.name for file in path.iterdir()} if path.exists() else set()

    def entries(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}


@dataclass(frozen=True)
class SharedBucket:
    server: ObjectStore
    bucket: str
    clock: FakeClock
    made: list[ObjectResultStore] = field(default_factory=list)

    def replica(self, **bounds: int) -> ObjectResultStore:
        within = ResultBounds(time_to_live=TTL, **bounds)  # type: ignore[arg-type]
        return ObjectResultStore(self.opened(), self.clock, within)

    def opened(self, prefix: str = PREFIX, timeout_s: float = 10) -> Bucket:
        access = StoreAccess(
            bucket=self.bucket, prefix=prefix, timeout_s=timeout_s, properties=self.server.properties
        )
        return Bucket(access, self.clock)

    def write(self, store: SharedStore, query_id: UUID, files: dict[str, bytes]) -> None:
        place = store.place(query_id)
        assert place is not None
        key = urlsplit(place.address).path.lstrip("/")
        for name, data in files.items():
            self.server.put(self.bucket, f"{key}/{name}", data)

    def names(self, query_id: UUID) -> set[str]:
        prefix = f"{PREFIX}/{query_id}/"
        return {key.removeprefix(prefix) for key in self.server.keys(self.bucket, prefix)}

    def entries(self) -> set[str]:
        keys = self.server.keys(self.bucket, f"{PREFIX}/")
        return {key.removeprefix(f"{PREFIX}/").partition("/")[0] for key in keys}


def rows(start: int, count: int) -> pa.RecordBatch:
    numbers = range(start, start + count)
    return pa.record_batch([pa.array(numbers), pa.array([f"é{n}" for n in numbers])], schema=SCHEMA)


def part_of(batches: list[pa.RecordBatch]) -> tuple[Part, bytes]:
    """Returns the batches as a part without a file, and its bytes."""
    messages = [batch.serialize().to_pybytes() for batch in batches]
    described, offset = [], 0
    for batch, message in zip(batches, messages, strict=True):
        described.append(Batch(offset, len(message), batch.num_rows, batch.nbytes))
        offset += len(message)
    return Part(tuple(described), inline=b"".join(messages)), b"".join(messages)


def written(place: SharedPlace, store: SharedStore, query_id: UUID) -> WrittenRows:
    """Writes 60 rows as executors do: two files, and a part between them that came to the driver."""
    first, data = part_of([rows(0, 10), rows(10, 10)])
    inline, _ = part_of([rows(20, 10)])
    last, others = part_of([rows(30, 30)])
    place.write(store, query_id, {"a.part": data + b"a batch that nobody wants", "b.part": others})
    return WrittenRows(SCHEMA, (Part(first.batches, "a.part"), inline, Part(last.batches, "b.part")))


def kept(place: SharedPlace, store: SharedStore) -> UUID:
    """Keeps such rows as the result of a new query."""
    query_id = uuid4()
    store.keep(query_id, written(place, store, query_id), COLUMNS, is_truncated=True)
    return query_id


def whole(store: SharedStore, query_id: UUID) -> bytes:
    """Returns all bytes of a result's stream."""
    stream = store.open(query_id)
    return b"".join(stream.blocks(0, stream.byte_count))
