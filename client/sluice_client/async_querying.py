"""The async twin of `Querying`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack
from uuid import UUID

from sluice_client.async_calling import AsyncCalling
from sluice_client.drivers.async_driver import AsyncDriver
from sluice_client.explaining.explanation import Explanation
from sluice_client.explaining.run_explain import explain_query, explain_text
from sluice_client.listing.description import QueryDescription, describe_query
from sluice_client.options import QueryDefaults, QueryOptions
from sluice_client.progress.steps import Progress, Silent, waiting
from sluice_client.query.parameters import Parameters
from sluice_client.query.query_answer import QueryStatus
from sluice_client.query.query_request import QueryRequest
from sluice_client.query.run_query import run_query, submit_query
from sluice_client.results.async_result import AsyncResult
from sluice_client.results.result_facts import result_facts
from sluice_client.retries import Context


class AsyncQuerying(AsyncCalling):
    """Sends queries with the same defaults."""

    def __init__(
        self,
        driver: AsyncDriver,
        context: Context,
        defaults: QueryDefaults,
        progress: Callable[[], Progress],
    ) -> None:
        self._driver = driver
        self._context = context
        self._defaults = defaults
        self._progress = progress

    async def query(
        self,
        sql: str,
        parameters: Parameters | None = None,
        *,
        allow_truncated: bool = False,
        **options: Unpack[QueryOptions],
    ) -> AsyncResult:
        """Runs a query, and returns when it has succeeded: see `Connection.query`."""
        asked = self._defaults.request(sql, parameters, options)
        progress = self._progress()
        watch = None if isinstance(progress, Silent) else lambda status: progress.show(waiting(status))
        try:
            status = await self._run(run_query(asked, self._context, watch))
        finally:
            progress.close()
        return self._result(status, asked, allow_truncated)

    async def submit(
        self, sql: str, parameters: Parameters | None = None, **options: Unpack[QueryOptions]
    ) -> QueryStatus:
        """Sends a query, and returns at once: see `Connection.submit`."""
        return await self._run(submit_query(self._defaults.request(sql, parameters, options), self._context))

    async def explain(
        self, query: str | UUID, parameters: Parameters | None = None, **options: Unpack[QueryOptions]
    ) -> Explanation:
        """Explains a query that was sent, or a SQL text without running it: see `Connection.explain`."""
        if isinstance(query, UUID):
            return await self._run(explain_query(query, self._context))
        asked = self._defaults.request(query, parameters, options)
        return await self._run(explain_text(asked, self._context))

    async def describe(
        self, sql: str, parameters: Parameters | None = None, **options: Unpack[QueryOptions]
    ) -> QueryDescription:
        """Returns a query's columns and parameters, without running it: see `Connection.describe`."""
        asked = self._defaults.request(sql, parameters, options)
        return await self._run(describe_query(asked, self._context))

    def _result(self, status: QueryStatus, asked: QueryRequest | None, allow_truncated: bool) -> AsyncResult:
        facts = result_facts(status, asked, allow_truncated=allow_truncated)
        return AsyncResult(facts, self._driver, self._context, self._progress)
