"""The other replicas, as far as queries are open there."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Protocol
from uuid import UUID

from service.model.query.replicas import BegunRequest, OpenQuery
from service.query.registry.query_handle import QueryHandle


class OtherReplicas(Protocol):
    """The other replicas; `Presence` reports to them. Any thread may call any method."""

    @property
    def has_others(self) -> bool:
        """Whether there may be another replica, as far as is known."""

    def announce(self, query: QueryHandle) -> None:
        """Writes an open query down before its caller learns its id, so that any replica knows the id."""

    def claim(self, query: QueryHandle) -> BegunRequest | None:
        """Writes a query with a requestId down, before it begins, unless one was begun under this id.

        Returns that one, which may be at another replica. None: the query may begin. So it may if the store
        does not answer.
        """

    def give_up(self, query: QueryHandle) -> None:
        """Takes a claim back: the query does not begin."""

    def find(self, query_id: UUID) -> OpenQuery | None:
        """Returns a query that is open at any replica.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def find_request(self, caller: str, request_id: UUID) -> OpenQuery | None:
        """Returns the query that this caller sent under this id, if it is open at any replica.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def ask_to_cancel(self, query_id: UUID) -> None:
        """Asks the replica that runs the query to cancel it.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def watch(self, query_id: UUID) -> Future[None]:
        """Returns a future that resolves when the query is no longer open at any replica, or watching stops.

        All callers share it: never cancel it.
        """

    def stop_watching(self) -> None:
        """Releases all callers that wait here for queries of other replicas."""

    def close(self) -> None:
        """Reports that this replica ends."""


class NoOtherReplicas:
    """Implements `OtherReplicas` for a gateway that is the only one."""

    has_others = False

    def announce(self, query: QueryHandle) -> None:
        """See `OtherReplicas`."""

    def claim(self, query: QueryHandle) -> BegunRequest | None:  # noqa: ARG002
        """See `OtherReplicas`."""
        return None

    def give_up(self, query: QueryHandle) -> None:
        """See `OtherReplicas`."""

    def find(self, query_id: UUID) -> OpenQuery | None:  # noqa: ARG002
        """See `OtherReplicas`."""
        return None

    def find_request(self, caller: str, request_id: UUID) -> OpenQuery | None:  # noqa: ARG002
        """See `OtherReplicas`."""
        return None

    def ask_to_cancel(self, query_id: UUID) -> None:
        """See `OtherReplicas`."""

    def watch(self, query_id: UUID) -> Future[None]:  # noqa: ARG002
        """See `OtherReplicas`."""
        ended: Future[None] = Future()
        ended.set_result(None)
        return ended

    def stop_watching(self) -> None:
        """See `OtherReplicas`."""

    def close(self) -> None:
        """See `OtherReplicas`."""
