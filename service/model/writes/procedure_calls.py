"""A procedure that SQL calls, and its arguments, as the statement has them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


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

    def since_1970(self, name: str) -> timedelta | None:
        """Returns the moment that an argument has; None: it is left out, or has another type.

        Spark's moments reach beyond those of `datetime`.

        >>> call = ProcedureCall((), (ProcedureArgument("older_than", ArgumentKind.MOMENT, 1_000_000),))
        >>> call.since_1970("older_than"), call.since_1970("x")
        (datetime.timedelta(seconds=1), None)
        """
        found = self.argument(name)
        if found is None or found.kind is not ArgumentKind.MOMENT or found.value is None:
            return None
        return timedelta(microseconds=int(found.value))
