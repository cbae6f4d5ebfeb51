"""The budget of one search for files."""

from __future__ import annotations

from collections.abc import Callable

from service.errors.ingest_errors import IngestCanceled
from service.errors.source_errors import SourceInvalid
from service.model.ingest.sources import SourceBounds
from service.ports.clock import Clock


class SearchBudget:
    """Counts the names that a search checks, and ends it if they are too many or the ingest is canceled."""

    def __init__(self, bounds: SourceBounds, clock: Clock, is_canceled: Callable[[], bool]) -> None:
        self._bounds = bounds
        self._clock = clock
        self._is_canceled = is_canceled
        self._began_ms = clock.elapsed_ms()
        self.names = 0
        self.steps = 0

    def take_folder(self) -> None:
        """Counts a folder that is about to be listed.

        Raises:
            IngestCanceled: the ingest was canceled.
            SourceInvalid: the search has used up its time.
        """
        if self._is_canceled():
            raise IngestCanceled
        took_ms = self._clock.elapsed_ms() - self._began_ms
        if took_ms > self._bounds.listing_ms:
            raise SourceInvalid(
                f"Its files were not found within {self._bounds.listing_ms / 1000:g} s: see the setting"
                " ingest_source_listing_timeout_s. Name a folder further down."
            )

    def take_name(self, steps: int) -> None:
        """Counts a name, which is compared with `steps` segments of the pattern.

        Raises:
            IngestCanceled: the ingest was canceled.
            SourceInvalid: there are too many names or comparisons.
        """
        self.names += 1
        self.steps += steps
        if self.names > self._bounds.entries:
            raise SourceInvalid(
                f"There are more than {self._bounds.entries} names to search, twenty times what the "
                "setting ingest_source_max_files allows. Name a folder further down."
            )
        if self.steps > self._bounds.steps:
            raise SourceInvalid(
                f"The glob needs more than {self._bounds.steps} comparisons of names. Use fewer `**`, or name"
                " a folder further down."
            )
        if self._is_canceled():
            raise IngestCanceled
