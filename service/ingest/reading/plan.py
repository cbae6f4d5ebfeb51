"""What to do with each record: pure data that travels to executors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.model.schemas import Field


@dataclass(frozen=True, slots=True)
class ReadTarget:
    """The fields that one target's files hold, in their order."""

    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """Which target a record goes to, by the value of one field; targets are told by their index.

    `otherwise` takes what no value names, records without the field too; None: those are bad.
    """

    field: str
    targets: Mapping[str, int]
    otherwise: int | None = None

    def target(self, value: object) -> int | None:
        """The target for this value; numbers and booleans go by what JSON spells them as.

        >>> route = Route("kind", {"http": 0, "7": 1, "true": 2})
        >>> [route.target(each) for each in ("http", 7, True, None, "dns", 7.0)]
        [0, 1, 2, None, None, None]
        """
        match value:
            case str():
                name: str | None = value
            case bool():
                name = "true" if value else "false"
            case int():
                name = str(value)
            case _:
                name = None
        return self.otherwise if name is None else self.targets.get(name, self.otherwise)


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """Without a route there is one target. The field that routes need not be among a target's fields."""

    targets: tuple[ReadTarget, ...]
    route: Route | None = None
