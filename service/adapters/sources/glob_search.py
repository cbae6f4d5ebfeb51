"""Finds the files of an address with globs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from service.adapters.sources.search_budget import SearchBudget
from service.adapters.sources.storage import Entry, SourceAccess, entries
from service.model.ingest.source_uris import ANY_DEPTH, NameMatch, SourceUri, name_match

_DEPTH_AT_MOST = 100
Positions = frozenset[int]
"""Segments of the pattern that names in a folder may match."""


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """A file that matches the pattern, and its address."""

    uri: SourceUri
    entry: Entry


class GlobSearch:
    """One search below a folder. It lists each folder once, however many ways of the pattern lead there.

    Otherwise a pattern of forty `**/` would list a folder once for each way to divide its path among them.
    """

    def __init__(self, access: SourceAccess, segments: tuple[str, ...], budget: SearchBudget) -> None:
        if segments[-1] == ANY_DEPTH:
            segments = (*segments, "*")
        self._access = access
        self._budget = budget
        self._matches: list[NameMatch | None] = [
            None if segment == ANY_DEPTH else name_match(segment) for segment in segments
        ]
        self._visible = name_match("*")

    def files(self, start: SourceUri) -> Iterator[FoundEntry]:
        """Yields the matching files, in no order.

        Raises:
            SourceInvalid: the budget is spent.
            IngestCanceled: the ingest was canceled.
            SourceNotAllowed: a folder leads out of what may be read.
            OSError: the storage does not answer.
        """
        waiting = [(start, self._with_next(frozenset({0})))]
        while waiting:
            folder, positions = waiting.pop()
            self._access.check_real(folder)
            self._budget.take_folder()
            for entry in entries(self._access, folder):
                self._budget.take_name(len(positions))
                if not entry.is_folder:
                    if self._is_meant(entry.name, positions):
                        yield FoundEntry(folder.child(entry.name), entry)
                elif inside := self._inside(entry, positions, len(folder.segments)):
                    waiting.append((folder.child(entry.name), inside))

    def _is_meant(self, name: str, positions: Positions) -> bool:
        last = len(self._matches) - 1
        match = self._matches[last]
        return last in positions and match is not None and match(name)

    def _inside(self, folder: Entry, positions: Positions, depth: int) -> Positions:
        """Returns the segments that continue in a folder; nothing if none does."""
        found = {step for position in positions for step in self._steps(folder, position, depth)}
        return self._with_next(frozenset(found))

    def _steps(self, folder: Entry, position: int, depth: int) -> Iterator[int]:
        match = self._matches[position]
        if match is None:
            # Links may form a circle.
            if not folder.is_link and depth < _DEPTH_AT_MOST and self._visible(folder.name):
                yield position
        elif position + 1 < len(self._matches) and match(folder.name):
            yield position + 1

    def _with_next(self, positions: Positions) -> Positions:
        """Adds the segment after each `**`, which may match no folder at all. Two are never in a row."""
        return positions | {position + 1 for position in positions if self._matches[position] is None}
