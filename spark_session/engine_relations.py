"""The relations of whichever session the engine has now."""

from __future__ import annotations

from service.errors import EngineNotReady
from service.model.query import Parameters
from service.model.relations import HeldRelation, RelationBounds, RelationQuery
from spark_session.engine import SparkEngine, in_engine_terms


class EngineRelations:
    """Implements `service.ports.Relations`. A JVM that is lost takes its relations along."""

    def __init__(self, engine: SparkEngine) -> None:
        self._engine = engine

    def held(self, fingerprint: str) -> HeldRelation | None:
        """See `service.ports.Relations`."""
        session = self._engine.session
        return None if session is None else session.relations.held(fingerprint)

    def fetch(
        self, query: RelationQuery, parameters: Parameters, bounds: RelationBounds
    ) -> HeldRelation | None:
        """See `service.ports.Relations`."""
        session = self._engine.session
        if session is None:
            raise EngineNotReady
        with in_engine_terms(session, lambda: False):
            return session.relations.fetch(query, parameters, bounds)
