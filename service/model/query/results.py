"""A query's result: its columns, and how it is cut into chunks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ResultFormat(StrEnum):
    """How rows are written for the caller."""

    JSON = "JSON"
    CSV = "CSV"
    ARROW_STREAM = "ARROW_STREAM"


@dataclass(frozen=True, slots=True)
class Column:
    """One result column; `type_name` is SQL, such as `DECIMAL(7,2)`."""

    name: str
    type_name: str
    is_nullable: bool


@dataclass(frozen=True, slots=True)
class Chunk:
    """Where a chunk's rows lie in the result."""

    index: int
    row_offset: int
    row_count: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The shape of a whole result. `byte_count` is of the rows in Arrow, not of any rendering."""

    columns: tuple[Column, ...]
    row_count: int
    byte_count: int
    chunks: tuple[Chunk, ...]
    is_truncated: bool
