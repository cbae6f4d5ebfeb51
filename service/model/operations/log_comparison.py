"""The result of checking whether the ingest log and the tables are from the same moment."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogComparison:
    """Names of tables, or of their branches, by what the comparison found.

    For `doubtful` ones, ingests wait in the log, and the table has a round that the log does not know, which
    may already contain them. `unknown` ones have such a round, and nothing waits for them. `behind` ones lack
    a round that the log has.
    """

    compared: int = 0
    doubtful: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    has_log: bool = True
