"""What is wrong with a request, and where: the one form that errors carry to the caller."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong.

    `pointer` is a JSON pointer into the body or the query string. `field` names a column, and `rule` what it
    breaks. In a body of records, `line` and `row` count from 1, and `column` is a character of the line.
    """

    detail: str
    pointer: str | None = None
    field: str | None = None
    rule: str | None = None
    line: int | None = None
    column: int | None = None
    row: int | None = None

    def __str__(self) -> str:
        return f"{self.pointer}: {self.detail}" if self.pointer else self.detail

    @property
    def fault(self) -> Fault:
        """Itself."""
        return self


class Faulty(Protocol):
    """Anything that can say what is wrong as a `Fault`."""

    @property
    def fault(self) -> Fault:
        """What is wrong, and where."""
