"""The size that rows of a table would have in another order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from service.model.tables.rewritten_sizes import RewrittenSizes, RowOrder


class RewrittenRows(Protocol):
    """Some rows of a table with all of their columns, which it writes in other orders, in memory alone.

    It reads them when they are first asked for. One thread uses it at a time.
    """

    def sizes(self, order: RowOrder, is_late: Callable[[], bool]) -> RewrittenSizes | None:
        """Returns how many bytes rows would take in this order; the same each time.

        None: it cannot be found out, or not in time.
        """
