"""In-memory tables that accept commits, and can refuse them."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from service.model.ingest.writing import CommitResult, Committable, TableKey
from service.ports.tables.table_changes import RoundEnded, always_open


class FakeTableCommits:
    """Raises `failures` one after the other, before it commits anything; None lets one commit succeed."""

    def __init__(self) -> None:
        self.failures: list[Exception | None] = []
        self.before_commit: Callable[[Committable], None] = lambda _: None
        self.after_commit: Callable[[Committable], None] = lambda _: None
        self.rounds: list[Committable] = []
        self.calls = 0
        self._lock = Lock()

    def commit(self, committable: Committable, is_open: Callable[[], bool] = always_open) -> CommitResult:
        self.before_commit(committable)
        with self._lock:
            self.calls += 1
            failure = self.failures.pop(0) if self.failures else None
            if failure is not None:
                raise failure
            known = [round_.round_id for round_ in self.rounds]
            is_repeated = committable.round_id in known
            if not is_repeated:
                if not is_open():
                    raise RoundEnded
                self.rounds.append(committable)
                known.append(committable.round_id)
            snapshot_id = known.index(committable.round_id) + 1
        self.after_commit(committable)
        results = committable.write_results
        return CommitResult(
            committable.key,
            snapshot_id,
            sum(len(result.data_files) for result in results),
            sum(result.record_count for result in results),
            sum(result.byte_count for result in results),
            is_repeated,
        )

    def files(self, key: TableKey) -> list[str]:
        """Returns every data file of the table, once for each time it was added."""
        rounds = [round_ for round_ in self.rounds if round_.key == key]
        return [file for round_ in rounds for result in round_.write_results for file in result.data_files]
