"""Combines small batches into larger ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from service.model.ingest.writing import Destination, WriteTarget


def gathered(
    pairs: Iterable[tuple[Destination, pa.RecordBatch]], byte_count: int
) -> Iterator[tuple[Destination, pa.RecordBatch]]:
    """Yields each destination's rows in their order, in larger batches.

    About `byte_count` bytes of rows are held back.
    """
    waiting: dict[WriteTarget, tuple[Destination, list[pa.RecordBatch]]] = {}
    waiting_bytes = 0
    for destination, batch in pairs:
        waiting.setdefault(destination.target, (destination, []))[1].append(batch)
        waiting_bytes += batch.nbytes
        if waiting_bytes >= byte_count:
            yield from _joined(waiting.values())
            waiting, waiting_bytes = {}, 0
    yield from _joined(waiting.values())


def _joined(
    groups: Iterable[tuple[Destination, list[pa.RecordBatch]]],
) -> Iterator[tuple[Destination, pa.RecordBatch]]:
    for destination, batches in groups:
        for batch in pa.Table.from_batches(batches).combine_chunks().to_batches():
            yield destination, batch
