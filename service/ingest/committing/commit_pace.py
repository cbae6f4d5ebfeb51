"""How fast and how wide the committer works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommitPace:
    """Times in milliseconds.

    `interval_ms` bounds how long a round waits for ingests whose files are still being written; `max_files`
    bounds how many files a round takes; `parallel_rounds` are those of different tables or branches.
    `look_around_ms` is how often the log is asked what others have left or committed. `contended_pause_ms`
    goes by before a round is asked for again that another replica has; the other pauses, between failures.
    `absence_final_after_ms` is how long a table is looked for, or a file, before it counts as gone.
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
        """How long to wait after so many failures in a row.

        >>> [CommitPace().pause_ms(failures) for failures in (1, 2, 3, 4000)]
        [100, 200, 400, 10000]
        """
        return min(self.first_pause_ms << min(failures - 1, 30), self.longest_pause_ms)
