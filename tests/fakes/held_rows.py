"""Rows in the engine's memory: as many bytes as a test sets."""

from __future__ import annotations

import pyarrow as pa


class FakeHeldRows:
    """`held` are the rows that are there now, and `taken` all that ever were."""

    def __init__(self, max_bytes: int = 1 << 20) -> None:
        self.max_bytes = max_bytes
        self.held: dict[str, pa.Table] = {}
        self.taken: list[pa.Table] = []

    def hold(self, fingerprint: str, rows: pa.Table, max_bytes: int) -> bool:
        if rows.nbytes > min(max_bytes, self.max_bytes):
            return False
        self.held[fingerprint] = rows
        self.taken.append(rows)
        return True

    def let_go(self, fingerprint: str) -> None:
        self.held.pop(fingerprint, None)
