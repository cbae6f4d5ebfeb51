"""The keys of many files, of which small ones are read several at once: a storage takes long to begin."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import orjson
import pyarrow as pa

from service.adapters.commits.superseding.key_columns import BATCH_ROWS, KeyColumns

_AT_ONCE = 8
_AHEAD = 16

Batch = list[pa.Array]


def read_ahead(columns: KeyColumns, files: Sequence[str]) -> Iterator[tuple[int, Iterable[Batch]]]:
    """The place of each file among them, and its keys; 16 batches more are in memory at most.

    Raises, while it is iterated:
        WrittenFileMissing, CommittableUnreadable: a file is at fault, which the error names.
        StorageDown: the storage does not give it.
    """
    ahead: deque[tuple[int, Future[list[Batch]] | None]] = deque()
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="keys") as pool:
        for place, file in enumerate(files):
            small = pool.submit(_read, columns, file) if _is_small(file) else None
            ahead.append((place, small))
            if len(ahead) == _AHEAD:
                yield _next(columns, files, ahead)
        while ahead:
            yield _next(columns, files, ahead)


def _next(
    columns: KeyColumns, files: Sequence[str], ahead: deque[tuple[int, Future[list[Batch]] | None]]
) -> tuple[int, Iterable[Batch]]:
    place, small = ahead.popleft()
    return place, columns.batches(files[place]) if small is None else small.result()


def _read(columns: KeyColumns, file: str) -> list[Batch]:
    return list(columns.batches(file))


def _is_small(file: str) -> bool:
    """Whether it is one batch. Of what cannot be understood, whoever reads it tells."""
    try:
        return int(orjson.loads(file)["record-count"]) <= BATCH_ROWS
    except (ValueError, LookupError, TypeError):
        return False
