"""Answers a query from the rows of its state, in the engine's memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc

from service.model.query.refresh import NotRefreshable, Partial, RefreshOutcome, RefreshPlan
from service.ports.engine.held_rows import HeldRows
from service.ports.engine.query_engine import Engine, EngineResult
from service.pruning.aggregation.partials import averaged
from service.pruning.aggregation.texts import STATE, answer_sql, renewed_sql
from service.query.execution.run_pruned import statement_of
from service.query.refresh.kept_states import KeptState
from service.query.refresh.state_reader import StateBounds
from service.query.registry.query_handle import QueryHandle

MAX_PARTS = 16
"""A state of more parts is merged into one."""


class MergedAnswers:
    """Merges states by the engine's own functions. Any thread may call it."""

    def __init__(self, rows: HeldRows, bounds: StateBounds) -> None:
        self._rows = rows
        self._bounds = bounds

    def renewed(self, query: QueryHandle, plan: RefreshPlan, state: KeptState, engine: Engine) -> KeptState:
        """Returns the state with few parts, and within its bounds.

        Raises:
            NotRefreshable: it is larger than it may be.
            GatewayError: the engine failed, or the query has to wait.
        """
        is_large = state.row_count > self._bounds.max_rows or state.byte_count > self._bounds.max_bytes
        if len(state.parts) <= MAX_PARTS and not is_large:
            return state
        sql = renewed_sql(plan.aggregation, plan.partials)
        with self._held(state) as fingerprint:
            statement = replace(
                statement_of(query, sql),
                parameters={},
                relations={STATE: fingerprint},
                row_limit=self._bounds.max_rows,
                byte_limit=self._bounds.max_bytes,
                is_of_state=True,
            )
            result = engine.run(statement)
        if result.is_truncated:
            raise NotRefreshable(RefreshOutcome.STATE_TOO_LARGE)
        return replace(state, parts=(result.rows,))

    def answer(self, query: QueryHandle, plan: RefreshPlan, state: KeptState, engine: Engine) -> EngineResult:
        """Returns the rows that the query has at the state's snapshots.

        Raises:
            NotRefreshable: nobody can tell whether a run would overflow, or the columns would differ.
            GatewayError: the engine failed, or the query has to wait.
        """
        merged = {number: _merged(partial, state.parts) for number, partial in enumerate(plan.partials)}
        with self._held(state) as fingerprint:
            statement = replace(
                statement_of(query, answer_sql(plan, merged)),
                relations={STATE: fingerprint},
                is_of_state=True,
            )
            result = engine.run(statement)
        if result.columns != plan.columns:
            raise NotRefreshable(RefreshOutcome.OTHER_COLUMNS)
        return result

    @contextmanager
    def _held(self, state: KeptState) -> Iterator[str]:
        fingerprint = f"state {uuid4()}"
        try:
            # In the engine, a row takes more bytes than in Arrow.
            if not self._rows.hold(fingerprint, state.rows(), 8 * self._bounds.max_bytes):
                raise NotRefreshable(RefreshOutcome.STATE_TOO_LARGE)
            yield fingerprint
        finally:
            self._rows.let_go(fingerprint)


def _merged(partial: Partial, parts: Sequence[pa.Table]) -> str:
    """Returns the merge of an aggregate over these parts.

    Raises:
        NotRefreshable: a run that adds in another order might overflow, or round in another way.
    """
    for guard in partial.guards:
        if _greatest(parts, guard.column) > guard.limit:
            raise NotRefreshable(RefreshOutcome.MAY_OVERFLOW)
    average = partial.average
    if average is None:
        return partial.merged
    greatest_sum = int(_greatest(parts, average.sum_column).scaleb(average.scale))
    return averaged(partial.merged, average, greatest_sum, int(_greatest(parts, average.count_column)))


def _greatest(parts: Sequence[pa.Table], column: str) -> Decimal:
    """Returns a bound of what the values of one group are together, without their signs."""
    return sum((_greatest_of(part.column(column)) for part in parts), Decimal(0))


def _greatest_of(values: pa.ChunkedArray) -> Decimal:
    bounds: dict[str, Any] = pc.min_max(values).as_py()
    return max((abs(Decimal(bound)) for bound in bounds.values() if bound is not None), default=Decimal(0))
