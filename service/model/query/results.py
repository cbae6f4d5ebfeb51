"""A query's result: its columns, and how it is divided into chunks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ResultFormat(StrEnum):
    """The formats in which rows are written for the caller."""

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
    """The place of a chunk's rows in the result."""

    index: int
    row_offset: int
    row_count: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The shape of a whole result; `byte_count` counts the rows in Arrow, not in the caller's format."""

    columns: tuple[Column, ...]
    row_count: int
    byte_count: int
    chunks: tuple[Chunk, ...]
    is_truncated: bool
