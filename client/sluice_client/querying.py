"""Queries and questions about queries: what a connection and a session both take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack
from uuid import UUID

from sluice_client.calling import Calling
from sluice_client.drivers.sync_driver import SyncDriver
from sluice_client.explaining.explanation import Explanation
from sluice_client.explaining.run_explain import explain_query, explain_text
from sluice_client.listing.description import QueryDescription, describe_query
from sluice_client.options import QueryDefaults, QueryOptions
from sluice_client.progress.steps import Progress, Silent, waiting
from sluice_client.query.parameters import Parameters
from sluice_client.query.query_answer import QueryStatus
from sluice_client.query.query_request import QueryRequest
from sluice_client.query.run_query import run_query, submit_query
from sluice_client.results.result import Result
from sluice_client.results.result_facts import result_facts
from sluice_client.retries import Context


class Querying(Calling):
    """Sends queries with the same defaults."""

    def __init__(
        self,
        driver: SyncDriver,
        context: Context,
        defaults: QueryDefaults,
        progress: Callable[[], Progress],
    ) -> None:
        self._driver = driver
        self._context = context
        self._defaults = defaults
        self._progress = progress

    def query(
        self,
        sql: str,
        parameters: Parameters | None = None,
        *,
        allow_truncated: bool = False,
        **options: Unpack[QueryOptions],
    ) -> Result:
        """Runs a query, and returns when it has succeeded. Its rows are read from the result, when asked for.

        Ctrl-C cancels the query.

        Args:
            sql: one SELECT, with `:name` or `?` for parameters.
            parameters: a mapping for `:name`, a list or tuple for `?`.
            allow_truncated: whether rows may be read that the gateway cut at a bound of its own.
            options: see `QueryOptions`.

        Raises:
            SqlInvalid: the text or its parameters cannot be run.
            QueryFailed: it failed while it ran.
            SluiceError: anything else, by its class.
        """
        asked = self._defaults.request(sql, parameters, options)
        progress = self._progress()
        watch = None if isinstance(progress, Silent) else lambda status: progress.show(waiting(status))
        try:
            status = self._run(run_query(asked, self._context, watch))
        finally:
            progress.close()
        return self._result(status, asked, allow_truncated)

    def submit(
        self, sql: str, parameters: Parameters | None = None, **options: Unpack[QueryOptions]
    ) -> QueryStatus:
        """Sends a query, and returns at once. `Connection.result` waits for its end.

        Raises:
            SluiceError: it could not be sent, or failed at once.
        """
        return self._run(submit_query(self._defaults.request(sql, parameters, options), self._context))

    def explain(
        self, query: str | UUID, parameters: Parameters | None = None, **options: Unpack[QueryOptions]
    ) -> Explanation:
        """Explains a query that was sent, by its id, or what a SQL text would do now, without running it.

        Raises:
            NotFound: there is no such query.
            SqlInvalid: the text cannot be run.
        """
        if isinstance(query, UUID):
            return self._run(explain_query(query, self._context))
        return self._run(explain_text(self._defaults.request(query, parameters, options), self._context))

    def describe(
        self, sql: str, parameters: Parameters | None = None, **options: Unpack[QueryOptions]
    ) -> QueryDescription:
        """Returns the columns of a query's result and the types of its parameters, without running it.

        Values of parameters may be left out.

        Raises:
            SqlInvalid: the text cannot be run.
        """
        return self._run(describe_query(self._defaults.request(sql, parameters, options), self._context))

    def _result(self, status: QueryStatus, asked: QueryRequest | None, allow_truncated: bool) -> Result:
        facts = result_facts(status, asked, allow_truncated=allow_truncated)
        return Result(facts, self._driver, self._context, self._progress)
