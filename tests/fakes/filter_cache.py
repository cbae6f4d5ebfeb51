"""A filter cache in memory that can be taken down."""

from __future__ import annotations

from service.model.health import PartHealth, PartState


class FakeFilterCache:
    def __init__(self) -> None:
        self.is_down = False

    def health(self) -> PartHealth:
        if self.is_down:
            return PartHealth("filterCache", PartState.DOWN, "The filter cache does not answer.")
        return PartHealth("filterCache", PartState.UP)
