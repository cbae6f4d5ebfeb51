"""The records of a write that delete the rows of their keys, instead of replacing them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

DELETE_MARK = "\0deletes"
"""The last column of marked rows: true where a row only deletes its key. No table has a column so named."""


class Envelope(StrEnum):
    """The forms in which change data capture wraps records."""

    DEBEZIUM = "debezium"


@dataclass(frozen=True, slots=True)
class DeleteWhen:
    """Records that delete: those whose field has one of these values, each as `json_name` spells it.

    A record without the field, or with NULL in it, never deletes.
    """

    field: str
    values: frozenset[str]

    def matches(self, value: object) -> bool:
        """Returns whether a record with this value deletes.

        >>> when = DeleteWhen("op", frozenset({"D", "true"}))
        >>> [when.matches(value) for value in ("D", True, "true", "d", None, 1, ["D"])]
        [True, True, True, False, False, False, False]
        """
        name = json_name(value)
        return name is not None and name in self.values


@dataclass(frozen=True, slots=True)
class RecordDeletes:
    """How the records of a write say that they delete; `keys` are the names of its equality fields.

    Without `when` and `envelope`, every record deletes. `order` is the column that orders the records, if one
    does: a delete has an order as well.
    """

    keys: tuple[str, ...]
    when: DeleteWhen | None = None
    envelope: Envelope | None = None
    order: str | None = None

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the fields that a deleting record must have."""
        return self.keys if self.order is None else (*self.keys, self.order)

    @property
    def is_always(self) -> bool:
        """Whether every record deletes."""
        return self.when is None and self.envelope is None


def json_name(value: object) -> str | None:
    """Returns the text for a value of a record: numbers and booleans as JSON spells them; None: it has none.

    Numbers with a fraction have their shortest spelling. Numbers with more digits than a double can hold have
    none.

    >>> [json_name(value) for value in ("http", 7, True, None, 7.0, 1.50, [])]
    ['http', '7', 'true', None, '7.0', '1.5', None]
    """
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float() | Decimal():
            return _shortest(value)
        case _:
            return None


def _shortest(number: float | Decimal) -> str | None:
    """Returns the shortest JSON spelling of the number; None where a double cannot represent it."""
    nearest = float(number)
    if not math.isfinite(nearest) or (isinstance(number, Decimal) and Decimal(repr(nearest)) != number):
        return None
    # Zero and negative zero are the same number.
    return repr(nearest + 0.0)
