"""The async twin of `Browsing`."""

from __future__ import annotations

from sluice_client.async_calling import AsyncCalling
from sluice_client.listing.advice import TableAdvice, advise
from sluice_client.listing.catalogs import SchemaList, list_catalogs, list_schemas
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
