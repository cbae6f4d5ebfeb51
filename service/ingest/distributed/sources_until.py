"""Stops the search for files of a source when its caller no longer waits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from service.errors.ingest_errors import IngestCanceled
from service.model.ingest.sources import SourceFile
from service.ports.tables.sources import Sources, never


@dataclass(frozen=True, slots=True)
class SourcesUntil:
    """A `service.ports.tables.sources.Sources` for one ingest; `is_canceled`: its caller no longer waits."""

    sources: Sources
    is_canceled: Callable[[], bool]

    def files(self, uri: str, is_canceled: Callable[[], bool] = never) -> Sequence[SourceFile]:
        """See the port; either `is_canceled` can cancel it."""
        found = self.sources.files(uri, lambda: self.is_canceled() or is_canceled())
        if self.is_canceled():
            raise IngestCanceled
        return found
