"""Groups lines of JSON by the target that one of their fields selects, without parsing the rest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from service.ingest.decoding.values.exact_json import exact_number
from service.model.ingest.ingest_request import Route


@dataclass(slots=True)
class LineGroup:
    """Lines of one target, in their order; None: they have no route."""

    target: int | None
    lines: list[bytes] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)


class LineRouter:
    """A reader of one field of each line, which skips the others."""

    def __init__(self, route: Route) -> None:
        self._route = route
        line: Any = msgspec.defstruct("Line", [("value", Any, None)], rename={"value": route.field})
        self._decode = msgspec.json.Decoder(line, float_hook=exact_number).decode_lines

    def groups(self, block: bytes, start: int) -> list[LineGroup] | None:
        """Returns the lines of a block by target, each with its number; None where this way cannot decide."""
        lines = block.split(b"\n")
        if not lines[-1]:
            lines.pop()
        try:
            found = self._decode(block)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if len(found) != len(lines):
            return None
        try:
            return self._grouped(lines, [line.value for line in found], start)
        except TypeError:
            # A list or an object cannot be a key here, and matches no target.
            return None

    def _grouped(self, lines: list[bytes], values: list[object], start: int) -> list[LineGroup]:
        groups: dict[int | None, LineGroup] = {}
        # Also by type: 1, 1.0 and True are the same key in Python, and different values in JSON.
        known: dict[tuple[type, object], LineGroup] = {}
        for number, (line, value) in enumerate(zip(lines, values, strict=True), start):
            key = (type(value), value)
            group = known.get(key)
            if group is None:
                target = self._route.target(value)
                group = known[key] = groups.setdefault(target, LineGroup(target))
            group.lines.append(line)
            group.numbers.append(number)
        return list(groups.values())
