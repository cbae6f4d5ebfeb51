"""The outcome of a run of a query."""

from __future__ import annotations

from dataclasses import dataclass

from service.errors.gateway_error import GatewayError
from service.model.query.verification import Verification
from service.ports.engine.query_engine import EngineResult
from service.query.filtering.pruned_query import PrunedQuery


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The rows or the failure of a run, with what was run last and what comparing the rows showed.

    `verification` is None where nobody asked for a comparison, or the run failed before it.
    """

    pruned: PrunedQuery
    result: EngineResult | GatewayError
    verification: Verification | None = None

    def rows(self) -> EngineResult:
        """The rows.

        Raises:
            GatewayError: the run failed.
        """
        if isinstance(self.result, GatewayError):
            raise self.result
        return self.result
