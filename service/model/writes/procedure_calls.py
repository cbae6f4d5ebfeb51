"""A procedure that SQL calls, and its arguments, as the statement has them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ArgumentKind(StrEnum):
    """The type of a literal; OTHER is anything else, which has no value."""

    TEXT = "text"
    NUMBER = "number"
    MOMENT = "moment"
    BOOLEAN = "boolean"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ProcedureArgument:
    """One argument. `name` is in lower case, and empty if the statement has none.

    The value of a moment is in microseconds since 1970.
    """

    name: str
    kind: ArgumentKind
    value: str | int | bool | None = None


@dataclass(frozen=True, slots=True)
class ProcedureCall:
    """The name of a procedure, with its catalog and schema, and its arguments in their order."""

    name: tuple[str, ...]
    arguments: tuple[ProcedureArgument, ...] = ()

    def argument(self, name: str) -> ProcedureArgument | None:
        """Returns the argument of this name; None: it is left out."""
        return next((each for each in self.arguments if each.name == name), None)

    def moment(self, name: str) -> datetime | None:
        """Returns the moment that an argument has; None: it is left out, or has another type.

        >>> call = ProcedureCall((), (ProcedureArgument("older_than", ArgumentKind.MOMENT, 1_000_000),))
        >>> call.moment("older_than").isoformat(), call.moment("x")
        ('1970-01-01T00:00:01+00:00', None)
        """
        found = self.argument(name)
        if found is None or found.kind is not ArgumentKind.MOMENT or found.value is None:
            return None
        return _EPOCH + timedelta(microseconds=int(found.value))
