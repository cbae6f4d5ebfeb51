"""Expands the views of a query: replaces their names by their text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from service.errors.unavailable import CatalogDown
from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import NOW, TableAt, TableFacts, TableName
from service.model.tables.views import ExpandedText, View, ViewReading
from service.ports.tables.catalogs import Catalogs, Views
from service.pruning.sql_text.expand_views import expand_views, view_select
from service.query.filtering.detection.view_texts import ViewBody, ViewQuestion, ViewTexts, versions

log = structlog.get_logger(__name__)

# Views of views double with each step if each reads the one below it twice.
MAX_DEPTH = 5
MAX_VIEWS = 32

_Read = Mapping[TableName, tuple[TableName, ...]]


class ExpandedViews:
    """Expands views whose text means the same to the engine inside the query. Any thread may call it.

    Views are read again for each query: a replaced view has other rows at once.
    """

    def __init__(self, views: Views, catalogs: Catalogs, catalog_names: frozenset[str]) -> None:
        self._views = views
        self._catalogs = catalogs
        self._texts = ViewTexts(views, catalogs, catalog_names)

    def open(
        self,
        parsed: ParsedQuery,
        names: Mapping[int, TableAt],
        facts: Mapping[TableAt, TableFacts],
        catalog: str | None,
        schema: str | None,
    ) -> ExpandedText | None:
        """Returns the text with every view expanded that can be; None if there is none.

        `names` are the query's tables; those without facts may be views.
        """
        plain = (names.get(reference.end) for reference in parsed.references if reference.is_plain)
        now = (table_at.name for table_at in plain if table_at is not None and table_at.version == NOW)
        unknown = _without(now, facts)
        if not unknown:
            return None
        opening = _Opening(self._views, self._catalogs, self._texts, catalog, schema, dict(facts))
        try:
            found = [opening.find(table, ()) for table in unknown]
        except CatalogDown as failure:
            log.info("views_not_opened", detail=failure.detail)
            return None
        opened = [view for view in found if view is not None and view.select is not None]
        sql = expand_views(parsed, names, _selects(opened))
        if not opened or sql is None:
            return None
        return ExpandedText(sql, opening.facts, _read_by(opened))


@dataclass(frozen=True, slots=True)
class _Found:
    """A view that exists; without a `select` it is not expanded. `read` has the expanded views."""

    view: View
    select: str | None = None
    read: _Read = field(default_factory=dict)


@dataclass(slots=True)
class _Opening:
    """The views of one query, each read once."""

    views: Views
    catalogs: Catalogs
    texts: ViewTexts
    catalog: str | None
    schema: str | None
    facts: dict[TableAt, TableFacts]
    _found: dict[TableName, _Found | None] = field(default_factory=dict)
    _has_ring: bool = False

    def find(self, name: TableName, path: tuple[TableName, ...]) -> _Found | None:
        """Returns the view; None if it does not exist, or if it is on the path that led to it."""
        if name in path:
            self._has_ring = True
            return None
        if name not in self._found:
            view = self.views.view(name)
            self._found[name] = None if view is None else self._opened(view, (*path, name))
        return self._found[name]

    def _opened(self, view: View, path: tuple[TableName, ...]) -> _Found:
        is_near = len(path) <= MAX_DEPTH and len(self._found) < MAX_VIEWS
        body = self.texts.body(view) if is_near else None
        if body is None:
            return _Found(view)
        read = tuple(dict.fromkeys(name.name for name in body.names.values()))
        self.facts |= self.catalogs.facts_of(list(map(TableAt, _without(read, self.facts))))
        below = [self.find(table, path) for table in _without(read, self.facts)]
        views = [inner for inner in below if inner is not None]
        # The engine would take long to give up on a view that reads itself.
        is_known = len(views) == len(below) and not self._has_ring
        if not is_known or not self._is_read_alike(view, body, read, views):
            return _Found(view)
        expanded = expand_views(body.parsed, body.names, _selects(views))
        if expanded is None:
            return _Found(view)
        return _Found(view, view_select(view, expanded), {view.name: read, **_read_by(views)})

    def _is_read_alike(
        self, view: View, body: ViewBody, read: Iterable[TableName], below: Iterable[_Found]
    ) -> bool:
        tables = {table_at: self.facts[table_at] for table_at in map(TableAt, read) if table_at in self.facts}
        reading = ViewReading(view, view_select(view, body.parsed.sql), self.catalog, self.schema)
        views = frozenset(expanded.view for expanded in below)
        return self.texts.is_read_alike(ViewQuestion(reading, versions(tables), views))


def _selects(found: Sequence[_Found]) -> Mapping[TableName, str]:
    return {view.view.name: view.select for view in found if view.select is not None}


def _read_by(found: Sequence[_Found]) -> _Read:
    return {view: read for expanded in found for view, read in expanded.read.items()}


def _without(names: Iterable[TableName], facts: Mapping[TableAt, TableFacts]) -> list[TableName]:
    return sorted({name for name in names if TableAt(name) not in facts})
