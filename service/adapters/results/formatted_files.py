"""Results as files of other formats than they are kept in, on the disk of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from threading import Lock
from uuid import UUID, uuid4

from service.adapters.disk.scratch_directory import ScratchDirectory
from service.adapters.results.arrow_stream import BLOCK_BYTES
from service.adapters.results.message_files import as_expired, as_not_kept
from service.errors.gateway_error import CannotStart, GatewayError
from service.errors.query_errors import NoRoomForResult, ResultExpired, ResultTooLarge
from service.errors.unavailable import ShuttingDown
from service.model.operations.usage import CacheUse
from service.periodic_worker import PeriodicWorker
from service.ports.clock import Clock

SWEPT_EVERY_S = 60.0
MAX_FILES = 256
"""A sweep asks for the result of each file."""
_TOO_LARGE = (
    "The file of this result is larger than this gateway keeps files (formatted_results_max_bytes). Read it"
    " without Range, or ask for fewer rows or columns."
)
_MADE_ROOM = "The file of this result had to make room for others. Try again: it is then written again."


@dataclass(frozen=True, slots=True)
class DiskFile:
    """Implements `service.ports.stores.result_files.StoredFile`."""

    path: Path
    byte_count: int
    expires_at_ms: int

    def blocks(self, start: int, stop: int) -> Iterator[bytes]:
        """See `StoredFile`. Bytes of a file that makes room while it is read can be read to their end."""
        try:
            file = self.path.open("rb", buffering=0)
        except FileNotFoundError as error:
            raise NoRoomForResult(_MADE_ROOM) from error
        with as_expired(), file:
            file.seek(start)
            while start < stop:
                block = file.read(min(BLOCK_BYTES, stop - start))
                if not block:
                    raise ResultExpired
                start += len(block)
                yield block


class FolderFormattedFiles:
    """Implements `FormattedFiles` in a directory of this process. Any thread may call any method.

    A file is deleted when its result is gone, a minute later at most, and after a result's time to live.

    Raises:
        CannotStart: the directory cannot be used.
    """

    def __init__(
        self,
        directory: Path,
        clock: Clock,
        total_bytes: int,
        time_to_live: timedelta,
        is_there: Callable[[UUID], bool],
    ) -> None:
        """`is_there` says whether the result of a query can be read, and may raise a `GatewayError`."""
        try:
            self._scratch = ScratchDirectory.claim(directory)
        except OSError as error:
            raise CannotStart(
                f"Files of results cannot be kept in {directory} ({error.strerror}); "
                "choose a directory that this user may write, with some space left."
            ) from error
        self._clock = clock
        self._total_bytes = total_bytes
        self._time_to_live_ms = time_to_live // timedelta(milliseconds=1)
        self._is_there = is_there
        self._lock = Lock()
        # The least recently used first.
        self._files: dict[tuple[UUID, str], DiskFile] = {}
        self._taken_bytes = 0
        self._is_closed = False
        self._sweeper = PeriodicWorker("sweep-result-files", self.sweep, SWEPT_EVERY_S)

    def start(self) -> None:
        """Begins to delete files whose results are gone."""
        self._sweeper.start()

    @property
    def use(self) -> CacheUse:
        """The disk space that files take now, also those that are being written."""
        with self._lock:
            return CacheUse(len(self._files), self._taken_bytes, self._total_bytes)

    def find(self, query_id: UUID, name: str) -> DiskFile | None:
        """See `FormattedFiles`."""
        with self._lock:
            found = self._files.pop((query_id, name), None)
            if found is not None:
                self._files[query_id, name] = found
        return found if found is not None and self._clock.elapsed_ms() < found.expires_at_ms else None

    def write(self, query_id: UUID, name: str, pieces: Iterable[bytes]) -> DiskFile:
        """See `FormattedFiles`."""
        path = self._scratch.path / f"{uuid4().hex}.file"
        written = 0
        try:
            with as_not_kept(), path.open("xb") as file:
                for piece in pieces:
                    self._take(len(piece), written)
                    written += len(piece)
                    file.write(piece)
        except BaseException:
            with self._lock:
                self._taken_bytes -= written
            _delete([path])
            raise
        found = DiskFile(path, written, self._clock.elapsed_ms() + self._time_to_live_ms)
        self._keep((query_id, name), found)
        return found

    def clear(self) -> int:
        """Deletes all files but those that are being written, and returns how many there were."""
        with self._lock:
            paths = [self._removed(key) for key in list(self._files)]
        _delete(paths)
        return len(paths)

    def sweep(self) -> None:
        """Deletes the files whose results are gone."""
        now_ms = self._clock.elapsed_ms()
        with self._lock:
            kept = list(self._files.items())
        gone = [key for key, file in kept if file.expires_at_ms <= now_ms or not self._has_result(key[0])]
        with self._lock:
            paths = [self._removed(key) for key in gone if key in self._files]
        _delete(paths)

    def close(self) -> None:
        """Deletes all files, and ends those that are being written."""
        self._sweeper.close()
        with self._lock:
            self._is_closed = True
            self._files.clear()
        self._scratch.remove()

    def _take(self, byte_count: int, before: int) -> None:
        """Takes room for more bytes of a file that has so many `before`."""
        if before + byte_count > self._total_bytes:
            raise ResultTooLarge(_TOO_LARGE)
        paths: list[Path] = []
        with self._lock:
            if self._is_closed:
                raise ShuttingDown
            while self._files and self._taken_bytes + byte_count > self._total_bytes:
                paths.append(self._removed(next(iter(self._files))))
            has_room = self._taken_bytes + byte_count <= self._total_bytes
            self._taken_bytes += byte_count if has_room else 0
        _delete(paths)
        if not has_room:
            raise NoRoomForResult

    def _keep(self, key: tuple[UUID, str], file: DiskFile) -> None:
        with self._lock:
            paths = [self._removed(key)] if key in self._files else []
            self._files[key] = file
            while len(self._files) > MAX_FILES:
                paths.append(self._removed(next(iter(self._files))))
        _delete(paths)

    def _removed(self, key: tuple[UUID, str]) -> Path:
        file = self._files.pop(key)
        self._taken_bytes -= file.byte_count
        return file.path

    def _has_result(self, query_id: UUID) -> bool:
        try:
            return self._is_there(query_id)
        except GatewayError:
            # The place of results does not answer, so nothing is known.
            return True


def _delete(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink(missing_ok=True)
