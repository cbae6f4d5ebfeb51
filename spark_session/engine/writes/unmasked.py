"""Masked values are never written: a table would keep them as if they were true."""

from __future__ import annotations

from collections.abc import Iterable

from service.errors.statement_errors import StatementNotAllowed
from service.model.tables.restrictions import is_mask


def allow_unmasked(applied: Iterable[str]) -> None:
    """Checks the names of the policies that were applied to what a statement reads.

    Raises:
        StatementNotAllowed: one of them masks a column.
    """
    masked = next(filter(is_mask, applied), None)
    if masked is not None:
        raise StatementNotAllowed(
            f"A statement that writes may not read masked values, which policies show you here: {masked}."
        )
