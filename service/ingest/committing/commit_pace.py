"""The committer's timing and limits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitPace:
    """The committer's timing and limits; times are in milliseconds.

    `interval_ms` bounds how long a round waits for ingests whose files are still being written. `max_files`
    bounds how many files a round takes. `parallel_rounds` is how many rounds of different tables or branches
    run at once. `look_around_ms` is how often the log is polled for what other replicas have left or
    committed.

    `contended_pause_ms` passes before a round that another replica has is requested again. `first_pause_ms`
    and `longest_pause_ms` bound the pauses between failures. `absence_final_after_ms` is how long a missing
    table or file is looked for before it counts as gone.
    """

    interval_ms: int = 200
    max_files: int = 10_000
    parallel_rounds: int = 4
    look_around_ms: int = 2_000
    contended_pause_ms: int = 50
    first_pause_ms: int = 100
    longest_pause_ms: int = 10_000
    absence_final_after_ms: int = 300_000

    def pause_ms(self, failures: int) -> int:
        """Returns how long to wait after this many failures in a row.

        >>> [CommitPace().pause_ms(failures) for failures in (1, 2, 3, 4000)]
        [100, 200, 400, 10000]
        """
        return min(self.first_pause_ms << min(failures - 1, 30), self.longest_pause_ms)
