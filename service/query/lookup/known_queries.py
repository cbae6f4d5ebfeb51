"""Finds queries wherever they are known: held here, open at another replica, or recorded."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from service.errors.query_errors import QueryNotFound
from service.model.query.query import QueryRecord, QueryState
from service.model.query.statement_text import may_write
from service.ports.stores.query_store import QueryStore
from service.query.execution.run_query import QueryPorts
from service.query.registry.awaited_records import AwaitedRecords
from service.query.registry.known_requests import KnownRequests
from service.query.registry.other_replicas import OtherReplicas
from service.query.registry.query_handle import QueryHandle
from service.query.registry.query_registry import QueryRegistry
from service.query.registry.query_status import QueryStatus


class KnownQueries:
    """The queries of all callers. Each caller finds its own ones. Any thread may call any method."""

    def __init__(
        self,
        registry: QueryRegistry,
        others: OtherReplicas,
        store: QueryStore,
        ports: QueryPorts,
        awaited: AwaitedRecords,
        requests: KnownRequests,
    ) -> None:
        self._registry = registry
        self._others = others
        self._store = store
        self._ports = ports
        self._awaited = awaited
        self._requests = requests

    def held(self, query_id: UUID, caller: str) -> QueryHandle | None:
        """Returns the caller's query, while this gateway holds it.

        Raises:
            QueryNotFound: this gateway holds it for another caller.
        """
        query = self._registry.find(query_id)
        if query is not None and query.caller != caller:
            raise QueryNotFound
        return query

    def is_held(self, query_id: UUID) -> bool:
        """Whether no other replica can know more about the query."""
        return self._registry.find(query_id) is not None or not self._others.has_others

    def record(self, query_id: UUID, caller: str) -> QueryRecord:
        """Returns the record of a query that is not held here.

        Raises:
            QueryNotFound: this caller has no such query.
            MetricsStoreDown: its record cannot be read now.
        """
        return self.unheld(query_id, caller).record

    def unheld(self, query_id: UUID, caller: str) -> QueryStatus:
        """Returns what is known of a query that is not held here, without the shape of its result.

        Raises:
            QueryNotFound: this caller has no such query.
            MetricsStoreDown: its record cannot be read now.
        """
        return self._found(query_id, caller)

    def reported(self, query_id: UUID, caller: str) -> QueryStatus:
        """Returns the recorded status, or that of the replica where the query is open.

        Its caller may have its id before the record is written, so it is waited for.

        Raises:
            QueryNotFound: this caller has no such query.
            PoliciesDown: it has a result, and nobody knows whether its caller may still read it.
            MetricsStoreDown: its record cannot be read now.
        """
        return self._with_result(self._found(query_id, caller))

    def caller_of(self, query_id: UUID) -> str:
        """Returns whose query this is.

        Raises:
            QueryNotFound: there is no such query.
            MetricsStoreDown: its record cannot be read now.
        """
        query = self._registry.find(query_id)
        if query is not None:
            return query.caller
        found = self._recorded(query_id) or self._open_elsewhere(query_id)
        if found is None:
            raise QueryNotFound
        return found.record.caller

    def sent_as(self, request_id: UUID, caller: str) -> UUID:
        """Returns the id of the query that this caller sent under a requestId, at whichever replica.

        Raises:
            QueryNotFound: this caller has sent no query under this id, or it has not arrived yet.
            MetricsStoreDown: this replica does not hold it, and the others' queries cannot be read now.
        """
        held = self._registry.find_request(caller, request_id)
        if held is not None:
            return held.query_id
        # In this order: a query is open at its replica until the store has its record.
        opened = self._others.find_request(caller, request_id)
        record = self._requests.find(caller, request_id) if opened is None else opened.record
        if record is None:
            raise QueryNotFound("No query of yours was sent under this requestId, or it has not arrived yet.")
        return record.query_id

    def _found(self, query_id: UUID, caller: str) -> QueryStatus:
        found = self._awaited.found(
            lambda: self._known(query_id), lambda found: found is not None or not self._others.has_others
        )
        if found is None or found.record.caller != caller:
            raise QueryNotFound
        return found

    def _with_result(self, found: QueryStatus) -> QueryStatus:
        """Adds the shape of the result, if it can be read here and policies still let its caller read it."""
        query_id = found.record.query_id
        if found.record.state is not QueryState.SUCCEEDED or not self._ports.readable.may_read(query_id):
            return found
        return replace(found, manifest=self._ports.results.manifest(query_id))

    def _known(self, query_id: UUID) -> QueryStatus | None:
        found = self._recorded(query_id) or self._open_elsewhere(query_id)
        # It may have ended between the two.
        return found or self._recorded(query_id)

    def _recorded(self, query_id: UUID) -> QueryStatus | None:
        found = self._ports.journal.find(query_id) or self._store.find(query_id)
        if found is None:
            return None
        writes = self._ports.writes
        if writes is not None and found.write is None and may_write(found.sql):
            found = replace(found, write=writes.of_query(query_id))
        return QueryStatus(found, found.queued_ms + found.planning_ms + found.running_ms)

    def _open_elsewhere(self, query_id: UUID) -> QueryStatus | None:
        found = self._others.find(query_id)
        if found is None:
            return None
        return QueryStatus(
            found.record, found.elapsed_ms, progress=found.progress, queue=found.queue, is_elsewhere=True
        )
