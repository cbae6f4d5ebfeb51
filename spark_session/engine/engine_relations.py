"""The relations of the engine's current session."""

from __future__ import annotations

import pyarrow as pa

from service.model.filters.relations import CachedRelation, RelationBounds, RelationQuery
from service.model.policies.decisions import Access
from service.model.query.query import Parameters
from spark_session.engine.engine import SparkEngine

# Small tables only: a longer read costs more than it saves, and holds a thread that others wait for.
FETCH_WITHIN_S = 60.0
# A query waits for it, and needs it less than its keys.
PUT_WITHIN_S = 5.0


class EngineRelations:
    """Implements `service.ports.engine.relations.Relations`. The relations of a lost JVM are lost with it."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine

    def cached(self, fingerprint: str) -> CachedRelation | None:
        """See `service.ports.engine.relations.Relations`."""
        session = self._engine.session
        return None if session is None else session.relations.cached(fingerprint)

    def fetch(
        self, query: RelationQuery, parameters: Parameters, bounds: RelationBounds, access: Access
    ) -> CachedRelation | None:
        """See `service.ports.engine.relations.Relations`."""
        return self._engine.fetch(query, parameters, bounds, access, FETCH_WITHIN_S)

    def put(self, query: RelationQuery, rows: pa.Table, bounds: RelationBounds) -> CachedRelation | None:
        """See `service.ports.engine.relations.Relations`."""
        return self._engine.put(query, rows, bounds, PUT_WITHIN_S)
