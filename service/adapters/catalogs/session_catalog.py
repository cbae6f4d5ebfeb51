"""The catalogs, together with the engine's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from service.adapters.catalogs.nearest_names import nearest_names
from service.adapters.concurrency.bounded_calls import BoundedCalls
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.operations.health import PartHealth, PartState
from service.model.tables.tables import NOW, TableAt, TableFacts, TableListing, TableName
from service.ports.tables.catalogs import Catalogs, SessionTables

CATALOG = "spark_catalog"
_CALLS_AT_MOST = 16


class CatalogsWithSession:
    """Implements `Catalogs`: `spark_catalog` is the engine's, all others are in `others`.

    A request for several tables gets file listings at most half a minute old, which is enough to estimate
    costs. A request for one table gets a current listing.
    """

    def __init__(
        self,
        others: Catalogs,
        session_tables: SessionTables,
        timeout_s: float = 1.0,
        listing_max_age_ms: int = 30_000,
    ) -> None:
        self._others = others
        self._session_tables = session_tables
        self._timeout_s = timeout_s
        self._listing_max_age_ms = listing_max_age_ms
        self._calls = BoundedCalls(_CALLS_AT_MOST, (CatalogDown,))

    def tables(self, catalog: str | None = None, schema: str | None = None) -> TableListing:
        """See the port."""
        if catalog not in (None, CATALOG):
            return self._others.tables(catalog, schema)
        if catalog == CATALOG:
            return TableListing(tuple(sorted(self._own_tables(schema))))
        others = self._others.tables(catalog, schema)
        try:
            return TableListing(tuple(sorted((*self._own_tables(schema), *others.tables))), others.missing)
        except CatalogDown:
            return TableListing(others.tables, (*others.missing, CATALOG))

    def facts(self, name: TableName) -> TableFacts:
        """See the port."""
        if name.catalog != CATALOG:
            return self._others.facts(name)
        found = self._session_tables.facts(name, max_age_ms=0)
        if found is None:
            raise TableNotFound(str(name), self.nearest(str(name)))
        return found

    def facts_of(self, tables: Sequence[TableAt]) -> Mapping[TableAt, TableFacts]:
        """See the port."""
        own = {table for table in tables if table.name.catalog == CATALOG}
        rest = [table for table in tables if table not in own]
        found = dict(self._others.facts_of(rest)) if rest or not own else {}
        # Its tables have no versions.
        calls = {
            table_at: partial(self._session_tables.facts, table_at.name, self._listing_max_age_ms)
            for table_at in own
            if table_at.version == NOW
        }
        answers = self._calls.answers(calls, lambda _: CATALOG, self._timeout_s) if calls else {}
        return found | {table: facts for table, facts in answers.items() if facts is not None}

    def nearest(self, dotted: str) -> Sequence[str]:
        """See the port."""
        answers = self._calls.answers({CATALOG: self._session_tables.tables}, str, self._timeout_s)
        own = (str(table) for table in answers.get(CATALOG, ()))
        return nearest_names(dotted, (*self._others.nearest(dotted), *own))

    def health(self) -> Sequence[PartHealth]:
        """See the port."""
        answers = self._calls.answers({CATALOG: self._session_tables.check}, str, self._timeout_s)
        own = f"catalog:{CATALOG}"
        if CATALOG in answers:
            return (*self._others.health(), PartHealth(own, PartState.UP))
        down = PartHealth(own, PartState.DOWN, f"The catalog {CATALOG} does not answer.")
        return (*self._others.health(), down)

    def _own_tables(self, schema: str | None) -> list[TableName]:
        return [table for table in self._session_tables.tables() if schema in (None, table.schema)]
