"""What can be queried: catalogs, schemas, tables and views."""

from __future__ import annotations

from uuid import UUID

from sluice_client.calling import Calling
from sluice_client.listing.advice import TableAdvice, advise
from sluice_client.listing.catalogs import SchemaList, list_catalogs, list_schemas
from sluice_client.listing.layout_trial import (
    LayoutTrial,
    begin_trial,
    cancel_trial,
    find_trial,
    list_trials,
)
from sluice_client.listing.tables import TableDescription, TableList, describe_table, list_tables


class Browsing(Calling):
    """Lists what the caller may know of."""

    def catalogs(self) -> tuple[str, ...]:
        """Returns the names of all catalogs."""
        return self._run(list_catalogs(self._context))

    def schemas(self, catalog: str | None = None) -> SchemaList:
        """Returns all schemas, or those of one catalog, also those without tables."""
        return self._run(list_schemas(self._context, catalog))

    def tables(
        self, catalog: str | None = None, schema: str | None = None, *, columns: bool = False
    ) -> TableList:
        """Returns all tables and views, or those of one catalog or schema, page by page.

        Args:
            catalog: only its tables.
            schema: only its tables.
            columns: whether each entry has its columns and its comment.
        """
        return self._run(list_tables(self._context, catalog, schema, has_columns=columns))

    def table(self, name: str) -> TableDescription:
        """Returns one table, by its full name: catalog.schema.table.

        Raises:
            NotFound: there is no such table.
        """
        return self._run(describe_table(name, self._context))

    def advise(self, name: str, *, days: int | None = None) -> TableAdvice:
        """Returns which layouts of a table would save recorded queries most. Changes nothing.

        Args:
            name: its full name: catalog.schema.table.
            days: only for queries of so many days.

        Raises:
            NotFound: there is no such table.
        """
        return self._run(advise(name, self._context, days))

    def begin_trial(self, name: str, kind: str, *, days: int | None = None) -> LayoutTrial:
        """Begins to try a piece of advice on a copy of the table, and returns at once.

        Args:
            name: the full name of the table: catalog.schema.table.
            kind: that of the advice, such as `SORT`.
            days: only for queries of so many days.

        Raises:
            NotFound: there is no such table.
            GatewayError: trials are off, another one runs, or the caller may not have one.
        """
        return self._run(begin_trial(name, kind, self._context, days))

    def trial(self, name: str, trial_id: UUID) -> LayoutTrial:
        """Returns a trial as it is now.

        Raises:
            NotFound: the table has none with this id.
        """
        return self._run(find_trial(name, trial_id, self._context))

    def trials(self, name: str) -> tuple[LayoutTrial, ...]:
        """Returns the newest trials of a table, the newest first."""
        return self._run(list_trials(name, self._context))

    def cancel_trial(self, name: str, trial_id: UUID) -> LayoutTrial:
        """Asks for the end of a trial, and returns it as it is now.

        Raises:
            NotFound: the table has none with this id.
        """
        return self._run(cancel_trial(name, trial_id, self._context))
