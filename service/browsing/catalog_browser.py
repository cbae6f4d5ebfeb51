"""Lists the catalogs, schemas, tables and views that a principal may know of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from service.browsing.accepted_by import accepted_by
from service.errors.statement_errors import SqlInvalid
from service.errors.unavailable import CatalogDown
from service.model.policies.actions import Action
from service.model.policies.decisions import Access, SchemaSight
from service.model.tables.contents import (
    AcceptedColumn,
    RelationEntry,
    RelationKind,
    RelationPage,
    SchemaEntry,
    SchemaList,
)
from service.model.tables.tables import TableAt, TableColumn, TableFacts, TableListing, TableName
from service.policies.require import may
from service.policies.shown_counts import masked_columns, shows_counts
from service.policies.shown_identifiers import shown_identifier_fields
from service.ports.clock import Clock
from service.ports.filters.filter_keys import ProbeValues
from service.ports.tables.catalogs import CatalogContents, Catalogs, Views

_VIEWS_WITHIN_MS = 10_000
_VIEW_COLUMNS_WITHIN_MS = 2_000
_NO_COLUMN_ID = 0


@dataclass(frozen=True, slots=True)
class RelationQuery:
    """Which tables and views are listed: at most `limit`, those after a name, with or without columns."""

    catalog: str | None
    schema: str | None
    limit: int
    after: TableName | None = None
    has_columns: bool = False


class CatalogBrowser:
    """Lists what catalogs have. Any thread may call any method."""

    def __init__(
        self,
        names: Iterable[str],
        catalogs: Catalogs,
        contents: CatalogContents,
        views: Views,
        probe_values: ProbeValues,
        clock: Clock,
    ) -> None:
        self._names = tuple(sorted(names))
        self._catalogs = catalogs
        self._contents = contents
        self._views = views
        self._probe_values = probe_values
        self._clock = clock

    def catalogs(self, access: Access) -> Sequence[str]:
        """Returns the names of the catalogs that the principal may know of. Asks no catalog."""
        return [name for name in self._names if access.knows_catalog(name)]

    def schemas(self, catalog: str | None, access: Access) -> SchemaList:
        """Returns the schemas that the principal may know of, also those without tables.

        Raises:
            SqlInvalid: there is no such catalog, or the principal may not know of it.
            CatalogDown: the catalog that was named does not answer, or none does.
        """
        asked = self._asked(catalog, access)
        found, missing = _from_each(asked, self._contents.schemas)
        by_table = partial(self._has_shown_table, access=access)
        shown = [entry for entry in found if _is_shown(entry, access, by_table)]
        return SchemaList(tuple(sorted(shown, key=lambda entry: (entry.catalog, entry.schema))), missing)

    def relations(self, query: RelationQuery, access: Access) -> RelationPage:
        """Returns the tables and views that the principal may know of.

        Raises:
            CatalogDown: the catalog that was named does not answer, or none does.
        """
        listed = self._catalogs.tables(query.catalog, query.schema)
        kinds = dict.fromkeys(listed.tables, RelationKind.TABLE)
        views, missing = self._view_names(query, access, listed)
        kinds.update(dict.fromkeys(views, RelationKind.VIEW))
        names = sorted(
            name
            for name in kinds
            if (query.after is None or name > query.after) and may(access, Action.DESCRIBE, name)
        )
        page = names[: query.limit]
        entries = [RelationEntry(name, kinds[name]) for name in page]
        if query.has_columns:
            entries = self.with_columns(entries)
        return RelationPage(tuple(entries), len(names) > query.limit, missing)

    def with_columns(self, entries: Sequence[RelationEntry]) -> list[RelationEntry]:
        """Adds comments and columns to entries that were listed, as far as they are known now."""
        tables = [TableAt(entry.name) for entry in entries if entry.kind is RelationKind.TABLE]
        facts = self._catalogs.facts_of(tables) if tables else {}
        until_ms = self._clock.elapsed_ms() + _VIEW_COLUMNS_WITHIN_MS
        return [self._described(entry, facts, until_ms) for entry in entries]

    def keys(self, tables: Sequence[TableName], access: Access) -> Mapping[TableName, Sequence[str]]:
        """Returns the columns that identify a row, of those tables that have such and are known now.

        A table has none if it takes a field inside a struct, or if the principal does not see their values.
        """
        facts = self._catalogs.facts_of([TableAt(name) for name in tables]) if tables else {}
        shown = (facts[at] for at in map(TableAt, tables) if at in facts)
        return {
            found.name: found.key_columns
            for found in shown
            if found.key_columns and shown_identifier_fields(found, access)
        }

    def accepted(self, facts: TableFacts, access: Access) -> Sequence[AcceptedColumn]:
        """Returns the columns of a table that filters are accepted on.

        Its files are not looked at if the principal does not see all of its rows, and those of a masked
        column never are: how its values lie says something of them.
        """
        values = self._probe_values if shows_counts(access, facts.name) else None
        return accepted_by(facts, values, masked_columns(access, facts))

    def _asked(self, catalog: str | None, access: Access) -> Sequence[str]:
        known = self.catalogs(access)
        if catalog is None:
            return known
        if catalog not in known:
            raise SqlInvalid(f"There is no catalog {catalog}. GET /catalogs lists all.")
        return [catalog]

    def _view_names(
        self, query: RelationQuery, access: Access, listed: TableListing
    ) -> tuple[list[TableName], tuple[str, ...]]:
        answering = [name for name in self.catalogs(access) if name not in listed.missing]
        asked = [name for name in answering if query.catalog in (None, name)]
        found: list[TableName] = []
        missing = list(listed.missing)
        until_ms = self._clock.elapsed_ms() + _VIEWS_WITHIN_MS
        for name in asked:
            try:
                for schema in [query.schema] if query.schema else self._schema_names(name, access):
                    if self._clock.elapsed_ms() > until_ms:
                        raise CatalogDown(f"The catalog {name} did not list its views in time.")
                    found += self._contents.views(name, schema)
            except CatalogDown:
                # Its tables are listed all the same.
                missing.append(name)
        return found, tuple(missing)

    def _schema_names(self, catalog: str, access: Access) -> list[str]:
        schemas = self._contents.schemas(catalog)
        hidden = SchemaSight.HIDDEN
        return [entry.schema for entry in schemas if access.sight_of(catalog, entry.schema) is not hidden]

    def _has_shown_table(self, entry: SchemaEntry, *, access: Access) -> bool:
        tables = self._catalogs.tables(entry.catalog, entry.schema).tables
        names = (*tables, *self._contents.views(entry.catalog, entry.schema))
        return any(may(access, Action.DESCRIBE, name) for name in names)

    def _described(
        self, entry: RelationEntry, facts: Mapping[TableAt, TableFacts], until_ms: int
    ) -> RelationEntry:
        if entry.kind is RelationKind.TABLE:
            found = facts.get(TableAt(entry.name))
            if found is None:
                return entry
            return RelationEntry(entry.name, entry.kind, found.comment, found.columns)
        if self._clock.elapsed_ms() > until_ms:
            return entry
        try:
            view = self._views.view(entry.name)
        except CatalogDown:
            return entry
        if view is None:
            return entry
        columns = (
            TableColumn(_NO_COLUMN_ID, column.name, column.type_name, is_required=False)
            for column in view.columns
        )
        return RelationEntry(entry.name, entry.kind, columns=tuple(columns))


def _is_shown(entry: SchemaEntry, access: Access, has_table: Callable[[SchemaEntry], bool]) -> bool:
    sight = access.sight_of(entry.catalog, entry.schema)
    return sight is SchemaSight.SHOWN or (sight is SchemaSight.BY_TABLE and has_table(entry))


def _from_each(
    catalogs: Sequence[str], ask: Callable[[str], Sequence[SchemaEntry]]
) -> tuple[list[SchemaEntry], tuple[str, ...]]:
    found: list[SchemaEntry] = []
    missing: list[str] = []
    for name in catalogs:
        try:
            found += ask(name)
        except CatalogDown:
            if len(catalogs) == 1:
                raise
            missing.append(name)
    if catalogs and len(missing) == len(catalogs):
        raise CatalogDown("No catalog answers.")
    return found, tuple(missing)
