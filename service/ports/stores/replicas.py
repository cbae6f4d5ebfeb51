"""Replicas, and the queries that are open on each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from service.model.query.history import QueryListing, QuerySummary
from service.model.query.replicas import BegunRequest, Decided, OpenQuery, ProgressReport, SeenReplica


class Replicas(Protocol):
    """Reports this replica's queries to the other replicas, and reads theirs.

    Only the store's clock counts: clocks of machines may differ.
    """

    def beat(
        self, opened: Sequence[OpenQuery], reported: Collection[UUID], closed: Collection[UUID]
    ) -> Decided:
        """Reports that this replica is alive, and the states of its queries; all of it or nothing.

        Args:
            opened: queries to write down, or to update with another state; not those that count as lost.
            reported: queries that this replica has written down and not closed. The result has what others
                decided about them.
            closed: queries that have their record, and are forgotten here.

        Raises:
            MetricsStoreDown: nothing was written.
        """

    def take_lost(self, lost_after_s: float) -> Collection[UUID]:
        """Closes the open queries of replicas that were not seen for `lost_after_s`, as `REPLICA_LOST`.

        Each is closed exactly once, even if others do the same at this moment.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def find(self, query_ids: Collection[UUID]) -> Mapping[UUID, OpenQuery]:
        """Returns those of these queries that are written down and open, at any replica.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def ask_to_cancel(self, query_id: UUID) -> None:
        """Asks the replica that runs the query to cancel it; the replica learns it when it looks.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def canceled(self) -> Collection[UUID]:
        """Returns the open queries of this replica that others were asked to cancel; costs less than a beat.

        Raises:
            MetricsStoreDown: the store does not answer.
        """

    def leave(self) -> None:
        """Reports that this replica ends now: the queries that it leaves open are lost from this moment.

        Raises:
            MetricsStoreDown: the store does not answer; the others find out on their own.
        """


class OpenRequests(Protocol):
    """Finds open queries by the id that their caller gave the request."""

    def claim(self, query: OpenQuery) -> BegunRequest | None:
        """Writes a query down, unless its caller has begun another one under its requestId; returns that one.

        If several replicas claim at once, one succeeds. The open query of a replica whose connections to the
        store are gone does not count: its process has ended.

        Raises:
            MetricsStoreDown: nothing was written.
        """

    def find_request(self, caller: str, request_id: UUID) -> OpenQuery | None:
        """Returns such a query, if it is written down and open, at any replica.

        Raises:
            MetricsStoreDown: the store does not answer.
        """


class SeenReplicas(Protocol):
    """Lists the replicas, for operators."""

    def seen(self, limit: int) -> Sequence[SeenReplica]:
        """Returns at most so many of them, those that were seen last first, also some that have ended.

        Raises:
            MetricsStoreDown: the store does not answer.
        """


class OpenElsewhere(Protocol):
    """Lists queries that are open at other replicas."""

    def listed(self, listing: QueryListing) -> Sequence[QuerySummary]:
        """Returns those that are written down, the newest first, in the states that were reported last.

        Raises:
            MetricsStoreDown: the store does not answer.
        """


class SharedProgress(Protocol):
    """Reports how far this replica's queries are: `OpenQuery.report` has it at the others."""

    def report_progress(self, reports: Mapping[UUID, ProgressReport], valid_s: float) -> None:
        """Replaces the reports of these queries. Others see them for `valid_s`, by the store's clock.

        A query that this replica has not written down is left out, and so is one that another process writes
        at this moment: a report waits for nobody.

        Raises:
            MetricsStoreDown: the store does not answer.
        """


class SharedQueries(Replicas, OpenRequests, OpenElsewhere, SeenReplicas, SharedProgress, Protocol):
    """The open queries of all replicas."""
