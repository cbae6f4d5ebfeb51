"""A statement with the place where it stands, for errors that name a line and a column."""

from __future__ import annotations

from dataclasses import dataclass

from sluice_client.errors import SluiceError


@dataclass(frozen=True, slots=True)
class Source:
    """A statement, and where it begins in the file that it is from. Numbers count from 1."""

    sql: str
    first_line: int = 1
    name: str | None = None
    """The name of the file."""


class InSource(Exception):
    """An error of a statement, with the statement."""

    def __init__(self, error: SluiceError, source: Source) -> None:
        super().__init__(str(error))
        self.error = error
        self.source = source
