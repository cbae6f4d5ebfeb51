"""The step of a query's life in which a kept state may answer it."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from service.model.query.refresh import RefreshOutcome
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.ports.engine.query_engine import Engine
from service.query.registry.query_handle import QueryHandle
from service.query.registry.run_outcome import RunOutcome
from service.query.reuse.reuse_steps import Ticket


class Refresh(Protocol):
    """Answers aggregations from states that are brought up to date."""

    def answer(
        self, query: QueryHandle, ticket: Ticket, engine: Engine
    ) -> RunOutcome | RefreshOutcome | None:
        """Returns the rows that a run at the ticket's states would give, or why the query has to run in full.

        None: nobody wants a refresh of it.

        Raises:
            NotAdmitted: the query has to wait.
            GatewayError: it was canceled.
        """


class NoRefresh:
    """Implements `Refresh` for a gateway where each query runs in full."""

    def answer(
        self,
        query: QueryHandle,  # noqa: ARG002
        ticket: Ticket,  # noqa: ARG002
        engine: Engine,  # noqa: ARG002
    ) -> RunOutcome | RefreshOutcome | None:
        """See `Refresh`."""
        return None


def ran_in_full(outcome: RunOutcome, reason: RefreshOutcome) -> RunOutcome:
    """Returns the outcome of a run with the reason why it was not a refresh."""
    record = RewriteRecord(RewriteKind.REFRESH, detail=f"ran in full: {reason.value}")
    pruned = replace(outcome.pruned, rewrites=(*outcome.pruned.rewrites, record))
    return replace(outcome, pruned=pruned)
