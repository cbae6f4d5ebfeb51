"""Reads the keys of many files, several small files at once, because each read starts slowly."""

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
    """Yields each file's position in `files` and its keys; at most 16 further batches are in memory.

    Raises, while it is iterated:
        WrittenFileMissing, CommittableUnreadable: a file is at fault; the error names it.
        StorageDown: the storage does not return the file.
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
    """Whether the file is one batch. A description that cannot be parsed is left for its reader to report."""
    try:
        return int(orjson.loads(file)["record-count"]) <= BATCH_ROWS
    except (ValueError, LookupError, TypeError):
        return False
