"""How much of a column's values Iceberg writes as bounds of new files."""

from __future__ import annotations

import re
from collections.abc import Mapping

_DEFAULT = "truncate(16)"
_MODE = re.compile(r"truncate\((\d{1,9})\)")


def bound_length(properties: Mapping[str, str], column: str) -> int | None:
    """Returns how many characters of a text its bounds have; 0: there are no bounds, None: they have all.

    >>> prefix = "write.metadata.metrics"
    >>> bound_length({}, "id"), bound_length({f"{prefix}.default": "counts"}, "id")
    (16, 0)
    >>> bound_length({f"{prefix}.default": "none", f"{prefix}.column.id": "full"}, "id") is None
    True
    """
    default = properties.get("write.metadata.metrics.default", _DEFAULT)
    mode = properties.get(f"write.metadata.metrics.column.{column}", default).strip().lower()
    if mode in ("none", "counts"):
        return 0
    if mode == "full":
        return None
    # Iceberg takes its default for a mode that it does not know.
    found = _MODE.fullmatch(mode) or _MODE.fullmatch(_DEFAULT)
    return int(found[1]) if found else None
