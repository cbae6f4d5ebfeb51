"""The forms of a query's text in which filters are looked for, with the tables of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from service.model.filters.filter_record import Reason
from service.model.policies.decisions import Access
from service.model.query.query import QueryRequest
from service.model.query.rewrites import RewriteKind
from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import TableAt, TableFacts, TableName
from service.ports.tables.catalogs import Catalogs, Views
from service.pruning.sql_text.metadata_names import metadata_names
from service.pruning.sql_text.table_names import table_names
from service.query.filtering.detection.expanded_views import ExpandedViews
from service.query.filtering.detection.seen_tables import may_expand, seen_tables


@dataclass(frozen=True, slots=True)
class Reading:
    """One form of the query's text, and its tables."""

    parsed: ParsedQuery
    names: Mapping[int, TableAt]
    facts: Mapping[TableAt, TableFacts]
    expanded_views: Mapping[TableName, tuple[TableName, ...]]


class TextReadings:
    """Reads texts with their views expanded, and as they are written. Any thread may call it."""

    def __init__(
        self,
        catalogs: Catalogs,
        views: Views,
        read: Callable[[str], ParsedQuery | Reason],
        catalog_names: frozenset[str],
        *,
        is_expanding: bool,
    ) -> None:
        """`read` parses a text. Without `is_expanding`, no view is expanded."""
        self._catalogs = catalogs
        self._views = ExpandedViews(views, catalogs, catalog_names)
        self._read = read
        self._catalog_names = catalog_names
        self._is_expanding = is_expanding

    def of(self, parsed: ParsedQuery, request: QueryRequest, access: Access) -> Iterator[Reading]:
        """Yields the query with its views expanded, if any can be; then the query as written."""
        versioned, names = self._named(parsed, request)
        facts = self._catalogs.facts_of(list(dict.fromkeys(names.values())))
        written = Reading(versioned, names, seen_tables(facts, access), {})
        if self._is_expanding and request.pruning.allows(RewriteKind.VIEW_EXPANDED):
            yield from self._expanded(replace(written, facts=facts), request, access)
        yield written

    def _expanded(self, written: Reading, request: QueryRequest, access: Access) -> Iterator[Reading]:
        opened = self._views.open(
            written.parsed, written.names, written.facts, request.catalog, request.schema
        )
        parsed = Reason.NOT_A_QUERY if opened is None else self._read(opened.sql)
        if opened is None or isinstance(parsed, Reason) or not may_expand(opened.views, access):
            return
        versioned, names = self._named(parsed, request)
        found = Counter(names.values())
        # If a view's own text uses such a name, it cannot be distinguished from a table's name.
        if Counter(name for name in written.names.values() if name in written.facts) <= found:
            facts = {table_at: opened.facts[table_at] for table_at in found if table_at in opened.facts}
            yield Reading(versioned, names, seen_tables(facts, access), opened.views)

    def _named(self, parsed: ParsedQuery, request: QueryRequest) -> tuple[ParsedQuery, Mapping[int, TableAt]]:
        catalogs = self._catalog_names
        versioned = metadata_names(parsed, catalogs, request.catalog)
        return versioned, table_names(versioned, catalogs, request.catalog, request.schema)
