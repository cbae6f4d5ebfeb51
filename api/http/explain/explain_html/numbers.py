"""Numbers as people read them."""

from __future__ import annotations

from service.model.query.scan_metrics import Selection

_UNITS = ("kB", "MB", "GB", "TB", "PB")


def count(number: int) -> str:
    """Separates thousands.

    >>> count(287867)
    '287,867'
    """
    return f"{number:,}"


def size(number: int) -> str:
    """Spells a size in bytes in the largest unit that fits.

    >>> size(999), size(4_900_000)
    ('999 B', '4.9 MB')
    """
    if number < 1000:
        return f"{number} B"
    scaled, unit = number / 1000, 0
    while scaled >= 1000 and unit < len(_UNITS) - 1:
        scaled, unit = scaled / 1000, unit + 1
    return f"{scaled:.1f} {_UNITS[unit]}"


def percentage(selection: Selection) -> float:
    """Returns the share that was selected, from 0 to 100.

    >>> percentage(Selection(2003, 366)), percentage(Selection(0, 0))
    (18.27, 0.0)
    """
    if selection.total <= 0:
        return 0.0
    return round(min(selection.selected / selection.total, 1) * 100, 2)
