"""The steps of a query's life that the reuse of results takes part in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from service.model.query.lineage import ResultLineage
from service.model.query.query import QueryRequest
from service.model.query.results import Manifest
from service.model.query.reuse import QueryFacts, ReusableResult, ReuseOutcome
from service.ports.engine.query_engine import EngineResult
from service.query.registry.query_handle import QueryHandle
from service.query.reuse.equal_queries import HandOver
from service.query.reuse.live_states import States


@dataclass(frozen=True, slots=True)
class Found:
    """The outcome of a lookup for an earlier result.

    `shared` is what equal queries have in common; None: the query waits for no other one. `text` is what
    those have in common that do not know yet whether they are equal. The rest is None where the lookup did
    not get that far.
    """

    outcome: ReuseOutcome
    key: str | None = None
    shared: tuple[object, ...] | None = None
    result: ReusableResult | None = None
    facts: QueryFacts | None = None
    states: States | None = None
    text: tuple[object, ...] | None = None


@dataclass(frozen=True, slots=True)
class Ticket:
    """A running query's claim to be kept for others: its key, and the states that it began with.

    `is_answered`: the query need not run, because an earlier result has answered it.
    """

    key: str
    facts: QueryFacts
    states: States
    is_answered: bool = False


class Reuse(Protocol):
    """Answers queries with the results of earlier ones. Nothing of it fails a query."""

    def may_block(self, request: QueryRequest) -> bool:
        """Whether `find` asks catalogs for this request."""

    def find(self, query: QueryHandle) -> Found | None:
        """Returns what is kept for this query as of now; None: it wants no earlier result."""

    def place(self, query: QueryHandle, found: Found | None, hand_over: HandOver) -> None:
        """Answers the query, has it wait for an equal one, or hands it over to be run.

        Raises:
            ShuttingDown: it was to be run, and nothing is run any more.
        """

    def begin(self, query: QueryHandle) -> Ticket | None:
        """Looks again when the query begins to run. None: its result is for nobody else."""

    def keep(self, ticket: Ticket, query: QueryHandle, result: EngineResult, manifest: Manifest) -> None:
        """Keeps the result, if it is that of the ticket's states. Call it before the query's end."""

    def complete(self, ticket: Ticket, query: QueryHandle, lineage: ResultLineage | None) -> None:
        """Adds the lineage, which is found after the query's end."""


class NoReuse:
    """Implements `Reuse` for a gateway where each query runs."""

    def may_block(self, request: QueryRequest) -> bool:  # noqa: ARG002
        """See `Reuse`."""
        return False

    def find(self, query: QueryHandle) -> Found | None:  # noqa: ARG002
        """See `Reuse`."""
        return None

    def place(self, query: QueryHandle, found: Found | None, hand_over: HandOver) -> None:  # noqa: ARG002
        """See `Reuse`."""
        hand_over(query)

    def begin(self, query: QueryHandle) -> Ticket | None:  # noqa: ARG002
        """See `Reuse`."""
        return None

    def keep(self, ticket: Ticket, query: QueryHandle, result: EngineResult, manifest: Manifest) -> None:
        """See `Reuse`."""

    def complete(self, ticket: Ticket, query: QueryHandle, lineage: ResultLineage | None) -> None:
        """See `Reuse`."""
