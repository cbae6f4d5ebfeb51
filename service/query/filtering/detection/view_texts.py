"""The texts of views, and whether the engine reads them like the views; each is found out once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from service.bounded_lru import BoundedLru
from service.errors.unavailable import CatalogDown
from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import TableAt, TableFacts, TableSource
from service.model.tables.views import View, ViewReading
from service.ports.tables.catalogs import Catalogs, Views
from service.pruning.sql_text.parse import parse
from service.pruning.sql_text.table_names import table_names
from service.pruning.sql_text.view_text import view_text
from service.query.filtering.detection.read_text import tree_bytes

MAX_CACHED_VIEWS = 512
MAX_CACHED_BYTES = 64 << 20

Versions = frozenset[tuple[TableAt, str, int]]


@dataclass(frozen=True, slots=True)
class ViewBody:
    """A view's text with full names, and the tables and views that it names."""

    parsed: ParsedQuery
    names: Mapping[int, TableAt]


@dataclass(frozen=True, slots=True)
class ViewQuestion:
    """A view, its text and the columns below it; equal questions have equal answers."""

    reading: ViewReading
    tables: Versions
    views: frozenset[View]


class ViewTexts:
    """Caches view texts and the engine's answers. Any thread may call it."""

    def __init__(self, views: Views, catalogs: Catalogs, catalog_names: frozenset[str]) -> None:
        self._views = views
        self._catalogs = catalogs
        self._catalog_names = catalog_names
        # In a tuple, since a view may have no text for other places.
        self._bodies: BoundedLru[View, tuple[ViewBody | None]] = BoundedLru(
            MAX_CACHED_VIEWS, MAX_CACHED_BYTES
        )
        self._answers = lru_cache(MAX_CACHED_VIEWS)(self._answer)

    def body(self, view: View) -> ViewBody | None:
        """Returns the view's text for any place; None if it may mean something else there."""
        known = self._bodies.get(view)
        if known is None:
            known = (self._body(view),)
            self._bodies.put(view, known, tree_bytes(view.sql))
        return known[0]

    def is_read_alike(self, question: ViewQuestion) -> bool:
        """Whether the engine reads view and text alike, as long as the columns below stay the same.

        Raises:
            CatalogDown: nobody can tell now.
        """
        return self._answers(question)

    def _body(self, view: View) -> ViewBody | None:
        parsed = parse(view.sql)
        text = None if parsed is None else view_text(parsed, view, self._catalog_names)
        body = None if text is None else parse(text)
        if body is None:
            return None
        names = table_names(body, self._catalog_names, None, None)
        # Only a common table expression may have a name of one part.
        are_known = all(len(reference.parts) == 1 or reference.end in names for reference in body.references)
        return ViewBody(body, names) if are_known else None

    def _answer(self, question: ViewQuestion) -> bool:
        if not self._views.is_read_alike(question.reading):
            return False
        now = self._catalogs.facts_of([table for table, *_ in question.tables])
        if versions(now) != question.tables:
            # The comparison was of other tables than the question.
            raise CatalogDown("The tables behind a view changed while it was being read.")
        return True


def versions(facts: Mapping[TableAt, TableFacts]) -> Versions:
    """Returns what tables' columns depend on.

    The identity of a table without snapshots is left out, because it changes with each file.
    """
    return frozenset(
        (table, str(fact.table_uuid) if fact.source is TableSource.ICEBERG else "", fact.schema_id)
        for table, fact in facts.items()
    )
