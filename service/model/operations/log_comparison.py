"""Whether the ingest log and the tables are of one time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogComparison:
    """Names of tables, or of branches of them, by what was found.

    In `doubtful` ones something waits, and the table has a round that the log does not know: what waits may
    be in it. `unknown` ones have such a round, and nothing waits for them. `behind` ones lack a round that
    the log has.
    """

    compared: int = 0
    doubtful: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    has_log: bool = True
