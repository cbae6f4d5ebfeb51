"""States of aggregations that are kept, within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import pyarrow as pa

from service.bounded_lru import BoundedLru
from service.model.operations.usage import CacheUse
from service.model.query.results import Column
from service.model.tables.tables import TableName
from service.ports.clock import Clock


@dataclass(frozen=True, slots=True)
class KeptState:
    """The state of an aggregation at one snapshot of its fact, and at one state of each other table.

    `parts` stand below one another: a group may be in each of them. `query_id` is the query that read the
    whole fact, and `taken_at` a moment at which the tables were in these states.
    """

    query_id: UUID
    taken_at: datetime
    table_uuid: UUID
    schema_id: int
    snapshot_id: int
    others: Mapping[TableName, str]
    columns: tuple[Column, ...]
    parts: tuple[pa.Table, ...]
    applied: tuple[str, ...] | None = None
    """The names of the policies that decided about its rows."""

    @property
    def row_count(self) -> int:
        """The rows of all parts."""
        return sum(part.num_rows for part in self.parts)

    @property
    def byte_count(self) -> int:
        """The bytes of all parts in Arrow."""
        return sum(part.nbytes for part in self.parts)

    def rows(self) -> pa.Table:
        """Returns all parts below one another, with the columns as the engine named and typed them."""
        table = pa.concat_tables([part.cast(self.parts[0].schema) for part in self.parts])
        fields = [
            field.with_nullable(column.is_nullable)
            for field, column in zip(table.schema, self.columns, strict=True)
        ]
        return pa.table(table.columns, schema=pa.schema(fields))


class KeptStates:
    """Keeps states by key; the least used make room. Thread-safe."""

    def __init__(self, clock: Clock, max_entries: int, max_bytes: int, max_age_ms: int) -> None:
        self._clock = clock
        self._max_age_ms = max_age_ms
        self._states: BoundedLru[str, tuple[KeptState, int]] = BoundedLru(max_entries, max_bytes)

    @property
    def use(self) -> CacheUse:
        """How many states are kept, and their bytes."""
        return self._states.use

    def find(self, key: str) -> KeptState | None:
        """Returns the state; None if there is none, or nothing has used it for too long."""
        found = self._states.get(key, self._is_young)
        return None if found is None else found[0]

    def put(self, key: str, state: KeptState) -> None:
        """Keeps the state in the place of another one."""
        self._states.put(key, (state, self._clock.elapsed_ms()), state.byte_count)

    def drop(self, key: str) -> None:
        """Forgets the state."""
        self._states.drop(key)

    def clear(self) -> int:
        """Forgets all states, and returns how many there were."""
        return self._states.clear()

    def _is_young(self, entry: tuple[KeptState, int]) -> bool:
        return self._clock.elapsed_ms() - entry[1] <= self._max_age_ms
