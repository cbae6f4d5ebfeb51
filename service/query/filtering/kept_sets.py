"""Key sets whose rows are kept, so that the keys of fewer rows are found in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from cachetools import LRUCache

from service.model.filters.dynamic_filter import DynamicFilter
from service.model.filters.key_selection import ColumnSet, KeptNote
from service.model.filters.key_set import DynamicFilteringData
from service.model.filters.relations import RelationBounds, RelationQuery
from service.model.query.query import Parameters
from service.ports.filters.filter_keys import KeysAndRows, KeySelector, SelectedRows
from service.ports.filters.key_set_rows import KeptRows
from service.pruning.build_side.kept_rows_query import KeptRowsQuery, kept_rows_query
from service.pruning.containment.key_selections import residual
from service.query.filtering.one_reading import KeptRelation

REMEMBERED = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptBounds:
    """How many sets of a family keep their rows, and how much of them. With zero sets, nothing is kept.

    `max_columns` counts those besides the keys; rows and bytes are those of one set.
    """

    max_sets: int
    max_columns: int
    max_rows: int
    max_bytes: int


@dataclass(frozen=True, slots=True)
class ContainedKeys:
    """Keys that were found in the kept rows of another set, and that set's fingerprint."""

    data: DynamicFilteringData
    within: str


@dataclass(frozen=True, slots=True)
class Keeping:
    """The columns to keep of a collection besides its keys, and what the filter selects."""

    wanted: DynamicFilter
    columns: tuple[str, ...]
    selected: SelectedRows
    bounds: RelationBounds

    def query(self, available: Iterable[str] | None = None) -> KeptRowsQuery | None:
        """Returns the query for the rows, of all columns or of the available ones; None if there is none."""
        names = None if available is None else {name.lower() for name in available}
        columns = [column for column in self.columns if names is None or column in names]
        return kept_rows_query(self.wanted.filtering_query, self.wanted.build.columns, columns)

    @property
    def relation(self) -> KeptRelation | None:
        """The rows for a reader of files."""
        query, wanted = self.query(), self.wanted
        if query is None:
            return None
        fingerprint = f"kept {wanted.fingerprint}"
        asked = RelationQuery(wanted.build, query.sql, fingerprint, wanted.parameter_names)
        return KeptRelation(asked, self.bounds)


class KeptSets:
    """Finds keys in kept rows, and keeps rows. Nothing raises; whatever fails, the keys are collected."""

    def __init__(self, selector: KeySelector, rows: KeptRows, bounds: KeptBounds) -> None:
        self._selector = selector
        self._rows = rows
        self._bounds = bounds
        self._lock = threading.Lock()
        self._too_large: LRUCache[str, None] = LRUCache(REMEMBERED)
        self._sources: LRUCache[str, str] = LRUCache(REMEMBERED)

    def look_up(
        self, wanted: DynamicFilter, parameters: Parameters, is_disabled: Callable[[str], bool]
    ) -> ContainedKeys | Keeping | None:
        """Returns the keys from kept rows; otherwise what to keep of their collection, if anything."""
        family = wanted.family
        if not self._bounds.max_sets or family is None or not wanted.is_cacheable:
            return None
        selected = self._selector.selected(wanted, parameters)
        if selected is None:
            return None
        notes = self._rows.notes(family.fingerprint)
        found = _containing(notes, wanted, selected, is_disabled)
        if found is not None:
            note, conditions = found
            rows = self._rows.rows(family.fingerprint, note)
            keys = None
            # The server may have anything, and keys of another type would leave out rows.
            if rows is not None and rows.schema.types == list(map(selected.types.get, note.columns)):
                keys = self._selector.keys_within(rows, wanted, conditions)
            if keys is not None:
                with self._lock:
                    self._sources[wanted.fingerprint] = note.fingerprint
                return ContainedKeys(keys, note.fingerprint)
        return self._keeping(wanted, selected, notes)

    def sources_of(self, fingerprints: Iterable[str]) -> frozenset[str]:
        """Returns the fingerprints of the sets in which these keys were found."""
        with self._lock:
            return frozenset(self._sources[each] for each in fingerprints if each in self._sources)

    def keep(self, keeping: Keeping, read: KeysAndRows) -> None:
        """Keeps the rows that the keys were collected from, if they are few."""
        wanted, rows = keeping.wanted, read.rows
        if rows is None:
            return
        [snapshot_id] = wanted.build.snapshot_ids
        available = {name.lower() for name in rows.column_names}
        columns = (*wanted.build.columns, *(name for name in keeping.columns if name in available))
        found = self._selector.kept(rows, columns, keeping.selected)
        if found is None or wanted.family is None or snapshot_id is None:
            return
        if found.num_rows > self._bounds.max_rows or found.nbytes > self._bounds.max_bytes:
            self.refuse(keeping)
            return
        selection = keeping.selected.selection
        note = KeptNote(wanted.fingerprint, snapshot_id, selection, columns, found.num_rows)
        self._rows.keep(wanted.family.fingerprint, note, found, self._bounds.max_sets)

    def refuse(self, keeping: Keeping) -> None:
        """Keeps no more rows of the family, because there are too many: reading them would cost too much."""
        if keeping.wanted.family is not None:
            with self._lock:
                self._too_large[keeping.wanted.family.fingerprint] = None

    def _keeping(
        self, wanted: DynamicFilter, selected: SelectedRows, notes: Sequence[KeptNote]
    ) -> Keeping | None:
        with self._lock:
            is_too_large = wanted.family is not None and wanted.family.fingerprint in self._too_large
        if is_too_large or not all(key in selected.types for key in wanted.build.columns):
            return None
        columns = tuple(islice(_columns(wanted, selected, notes), self._bounds.max_columns))
        bounds = RelationBounds(max_rows=self._bounds.max_rows, max_bytes=self._bounds.max_bytes)
        return Keeping(wanted, columns, selected, bounds)


def _columns(wanted: DynamicFilter, selected: SelectedRows, notes: Sequence[KeptNote]) -> Iterator[str]:
    """Yields each column that a later condition may ask for, the most likely ones first.

    They are the columns of the conditions, those that other sets of the family keep, and those that the query
    names.
    """
    named = () if wanted.family is None else wanted.family.named_columns
    asked = chain(
        sorted(selected.selection.columns),
        chain.from_iterable(note.selection.columns for note in notes),
        map(str.lower, named),
    )
    for column in dict.fromkeys(asked):
        if column in selected.types and column not in wanted.build.columns:
            yield column


def _containing(
    notes: Sequence[KeptNote],
    wanted: DynamicFilter,
    selected: SelectedRows,
    is_disabled: Callable[[str], bool],
) -> tuple[KeptNote, Mapping[str, ColumnSet]] | None:
    """Returns the smallest set that is certain to have all selected rows, and how to find them in it."""
    found: list[tuple[KeptNote, Mapping[str, ColumnSet]]] = []
    for note in notes:
        if wanted.build.snapshot_ids != (note.snapshot_id,) or is_disabled(note.fingerprint):
            continue
        conditions = _residual(selected, note)
        if conditions is not None and conditions.keys() <= set(note.columns):
            found.append((note, conditions))
    return min(found, key=lambda pair: pair[0].row_count, default=None)


def _residual(selected: SelectedRows, note: KeptNote) -> Mapping[str, ColumnSet] | None:
    try:
        return residual(selected.selection, note.selection)
    except (TypeError, ArithmeticError):
        # The server may have anything, such as a text where the column has numbers.
        return None
