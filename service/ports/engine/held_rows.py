"""Ports of the refresh of aggregations: rows in the engine's memory, for one statement."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa


class HeldRows(Protocol):
    """Rows that the engine reads from memory by name. Thread-safe."""

    def hold(self, fingerprint: str, rows: pa.Table, max_bytes: int) -> bool:
        """Takes the rows into the engine's memory; returns whether they fit.

        A statement reads them by a name that it maps to this fingerprint. Others may make them give way.

        Raises:
            GatewayError: there is no engine, or it has no such type.
        """

    def let_go(self, fingerprint: str) -> None:
        """Frees the rows; never raises."""
