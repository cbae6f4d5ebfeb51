"""Rows of small tables in the engine's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from service.model.filters.relations import CachedRelation, RelationBounds, RelationQuery
from service.model.policies.decisions import Access
from service.model.query.query import Parameters

if TYPE_CHECKING:
    import pyarrow as pa


class Relations(Protocol):
    """Rows of small tables that the engine keeps in memory."""

    def cached(self, fingerprint: str) -> CachedRelation | None:
        """Returns the relation at once, if the engine has it now."""

    def fetch(
        self, query: RelationQuery, parameters: Parameters, bounds: RelationBounds, access: Access
    ) -> CachedRelation | None:
        """Reads the rows that `access` shows and caches them while there is room; None: they are too large.

        Raises:
            GatewayError: the engine failed, or was lost.
        """

    def put(self, query: RelationQuery, rows: pa.Table, bounds: RelationBounds) -> CachedRelation | None:
        """Caches rows that were read elsewhere, as if it had fetched them; None if they are too large.

        The rows have the query's columns, in its order, with the types that the engine reads.

        Raises:
            GatewayError: there is no engine, or it failed.
        """
