"""Files of results in memory. The least used ones make room."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from service.errors.query_errors import ResultTooLarge

BLOCK_BYTES = 64


@dataclass(frozen=True)
class FakeFile:
    content: bytes

    @property
    def byte_count(self) -> int:
        return len(self.content)

    def blocks(self, start: int, stop: int) -> Iterator[bytes]:
        for first in range(start, stop, BLOCK_BYTES):
            yield self.content[first : min(first + BLOCK_BYTES, stop)]


class FakeFormattedFiles:
    def __init__(self, total_bytes: int = 1 << 30) -> None:
        self._total_bytes = total_bytes
        self._files: dict[tuple[UUID, str], FakeFile] = {}
        self.written = 0
        """How many files were written to their end."""
        self.asked = 0
        """How many were begun."""
        self.may_write = threading.Event()
        self.may_write.set()

    def find(self, query_id: UUID, name: str) -> FakeFile | None:
        found = self._files.pop((query_id, name), None)
        if found is not None:
            self._files[query_id, name] = found
        return found

    def write(self, query_id: UUID, name: str, pieces: Iterable[bytes]) -> FakeFile:
        self.asked += 1
        self.may_write.wait(20)
        content = b""
        for piece in pieces:
            content += piece
            if len(content) > self._total_bytes:
                raise ResultTooLarge
        self._files.pop((query_id, name), None)
        while sum(file.byte_count for file in self._files.values()) + len(content) > self._total_bytes:
            del self._files[next(iter(self._files))]
        self.written += 1
        found = self._files[query_id, name] = FakeFile(content)
        return found
