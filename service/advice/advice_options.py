"""The bounds of advice, and sizes in words."""

from __future__ import annotations

from dataclasses import dataclass

_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceOptions:
    """What is worth advising.

    Advice has to save `min_saved_share` of the bytes that the workload reads. No layout has files below
    `min_file_bytes` on average, or more than `max_partitions` partitions. The `max_columns` columns that most
    scans are filtered by are tried.
    """

    min_saved_share: float = 0.1
    min_file_bytes: int = 32 * 1024**2
    max_partitions: int = 10_000
    max_columns: int = 8


def size_text(byte_count: int) -> str:
    """Returns a size for people.

    >>> size_text(512), size_text(1536), size_text(64 * 1024**2)
    ('512 bytes', '1.5 KiB', '64 MiB')
    """
    size, unit = float(byte_count), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.3g} {_UNITS[unit]}"
