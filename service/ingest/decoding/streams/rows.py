"""The results of reading."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a record: the number of its line, or of its row in formats without lines; from 1.

    `column` is the character in the line at which reading stopped, where that is known.
    """

    number: int = 1
    column: int | None = None


FIRST = Position()


@dataclass(frozen=True, slots=True)
class TargetRows:
    """Rows of one target, with exactly its fields in their order, and marks if its records may delete."""

    target: int
    rows: pa.RecordBatch


@dataclass(frozen=True, slots=True)
class BadRow:
    """A record that does not fit, as it was sent; `target` is None where no route was found."""

    position: Position
    reason: str
    payload: bytes
    target: int | None = None


Rows = TargetRows | BadRow
