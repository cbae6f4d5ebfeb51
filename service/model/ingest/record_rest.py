"""The rest of a record: the fields that no column takes, as one value in a column of their own."""

from __future__ import annotations

from dataclasses import dataclass

MAX_REST_BYTES = 16 * 1024**2
"""The greatest size of a rest where no other is set."""
MAX_REST_DEPTH = 500
"""The most objects and arrays inside each other in a rest. Readers of JSON in Java stop at 1,000."""


@dataclass(frozen=True, slots=True)
class RecordRest:
    """The column that takes the fields without a column, and the greatest size of its text in bytes."""

    column: str
    max_bytes: int = MAX_REST_BYTES
