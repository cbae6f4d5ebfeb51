"""Numbers as people read them."""

from __future__ import annotations

from sluice_client.query.query_answer import Selection

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def size(count: float) -> str:
    """Returns a number of bytes.

    >>> size(512), size(25_600_000)
    ('512 B', '24.4 MiB')
    """
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:
        count, unit = count / 1024, unit + 1
    return f"{count:.0f} {_UNITS[unit]}" if unit == 0 else f"{count:.1f} {_UNITS[unit]}"


def share(selection: Selection) -> float:
    """Returns the selected share, from 0 to 1. Nothing of nothing is 0.

    >>> share(Selection(1, 4)), share(Selection(0, 0))
    (0.25, 0.0)
    """
    return min(max(selection.selected / selection.total, 0.0), 1.0) if selection.total > 0 else 0.0
