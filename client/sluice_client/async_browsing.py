"""The async twin of `Browsing`."""

from __future__ import annotations

from uuid import UUID

from sluice_client.async_calling import AsyncCalling
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


class AsyncBrowsing(AsyncCalling):
    """Lists what the caller may know of: see `Browsing`."""

    async def catalogs(self) -> tuple[str, ...]:
        """Returns the names of all catalogs."""
        return await self._run(list_catalogs(self._context))

    async def schemas(self, catalog: str | None = None) -> SchemaList:
        """Returns all schemas, or those of one catalog, also those without tables."""
        return await self._run(list_schemas(self._context, catalog))

    async def tables(
        self, catalog: str | None = None, schema: str | None = None, *, columns: bool = False
    ) -> TableList:
        """Returns all tables and views, or those of one catalog or schema: see `Connection.tables`."""
        return await self._run(list_tables(self._context, catalog, schema, has_columns=columns))

    async def table(self, name: str) -> TableDescription:
        """Returns one table, by its full name.

        Raises:
            NotFound: there is no such table.
        """
        return await self._run(describe_table(name, self._context))

    async def advise(self, name: str, *, days: int | None = None) -> TableAdvice:
        """Returns which layouts of a table would save recorded queries most: see `Connection.advise`.

        Raises:
            NotFound: there is no such table.
        """
        return await self._run(advise(name, self._context, days))

    async def begin_trial(self, name: str, kind: str, *, days: int | None = None) -> LayoutTrial:
        """Begins to try a piece of advice on a copy of the table, and returns at once.

        Args:
            name: the full name of the table: catalog.schema.table.
            kind: that of the advice, such as `SORT`.
            days: only for queries of so many days.

        Raises:
            NotFound: there is no such table.
            GatewayError: trials are off, another one runs, or the caller may not have one.
        """
        return await self._run(begin_trial(name, kind, self._context, days))

    async def trial(self, name: str, trial_id: UUID) -> LayoutTrial:
        """Returns a trial as it is now.

        Raises:
            NotFound: the table has none with this id.
        """
        return await self._run(find_trial(name, trial_id, self._context))

    async def trials(self, name: str) -> tuple[LayoutTrial, ...]:
        """Returns the newest trials of a table, the newest first."""
        return await self._run(list_trials(name, self._context))

    async def cancel_trial(self, name: str, trial_id: UUID) -> LayoutTrial:
        """Asks for the end of a trial, and returns it as it is now.

        Raises:
            NotFound: the table has none with this id.
        """
        return await self._run(cancel_trial(name, trial_id, self._context))
