"""Runs a write's task on executors: part by part, or with its rows grouped by their keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from service.committables import write_results_from_bytes
from service.errors.ingest_errors import UpsertTooLarge
from service.ingest.decoding.streams.plan import ReadPlan
from service.ingest.distributed.keyed_task import KeyedTask
from service.ingest.distributed.large_parts import LargeInputs, LargeParts
from service.ingest.distributed.sorted_rows import SplitOutcome
from service.ingest.distributed.split_task import SplitTask
from service.model.ingest.micro_batches import MicroBatch
from service.model.ingest.writing import WriteResult

# If an upsert has too many rows for a task, it is divided again, among more tasks, at most this often.
_DIVIDED_AT_MOST = 3
_MORE_PARTS = 4
# The expected size of rows in memory, as a multiple of their size as text; the real ratio varies.
_BYTES_IN_MEMORY = 2

Regrouped = Callable[[KeyedTask], Sequence[Sequence[SplitOutcome]]]
"""Runs a task whose rows are grouped by their keys, and returns its outcomes: a list for each part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRuns:
    """Runs the tasks of one write. `is_keyed`: it has an upsert, so a task gets all rows of a key.

    An upsert that was too large for its tasks is divided again, after `discard` has deleted its files.
    """

    large: LargeInputs
    ingest_id: UUID
    is_keyed: bool
    discard: Callable[[Sequence[WriteResult]], None]

    def of_parts(self, task: SplitTask, parts: LargeParts) -> Sequence[SplitOutcome]:
        """Runs the task on all parts of a body or of files."""
        executors, tag = self.large.executors, str(self.ingest_id)
        if not self.is_keyed:
            return executors.map(partial(task.read, parts.reader), parts.groups, tag)
        in_memory = parts.byte_count * _BYTES_IN_MEMORY
        count = max(-(-in_memory // self.large.bounds.upsert_bytes), len(parts.groups))

        def regrouped(task: KeyedTask) -> Sequence[Sequence[SplitOutcome]]:
            apart = partial(task.splits_apart, parts.reader)
            return executors.regroup(apart, task.together, parts.groups, task.part_count, tag)

        return self._keyed(task, count, regrouped)

    def of_messages(self, task: SplitTask, batch: MicroBatch, plan: ReadPlan) -> Sequence[SplitOutcome]:
        """Runs the task on the messages of a batch."""
        bounds = self.large.bounds.source_reading
        if not self.is_keyed:
            return batch.map(partial(task.messages, plan, bounds))

        def regrouped(task: KeyedTask) -> Sequence[Sequence[SplitOutcome]]:
            return batch.regroup(partial(task.messages_apart, plan, bounds), task.together, task.part_count)

        return self._keyed(task, self.large.executors.slots, regrouped)

    def _keyed(self, task: SplitTask, count: int, regrouped: Regrouped) -> Sequence[SplitOutcome]:
        outcomes: Sequence[SplitOutcome] = ()
        for _ in range(_DIVIDED_AT_MOST):
            outcomes = [outcome for group in regrouped(KeyedTask(task, count)) for outcome in group]
            if not any(isinstance(outcome.failure, UpsertTooLarge) for outcome in outcomes):
                break
            for outcome in outcomes:
                self.discard(results_of(outcome))
            count *= _MORE_PARTS
        return outcomes


def results_of(outcome: SplitOutcome) -> Sequence[WriteResult]:
    """Returns the results that a task sent."""
    return write_results_from_bytes(outcome.results) if outcome.results else ()
