"""Small tables that a query reads from the engine's memory; missing ones are fetched in the background."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial

import structlog
from cachetools import LRUCache

from service.errors.gateway_error import GatewayError
from service.model.filters.relations import CachedRelation, RelationBounds, RelationQuery
from service.model.policies.decisions import Access
from service.model.query.query import Parameters
from service.ports.engine.relations import Relations
from service.ports.filters.filter_keys import KeysAndRows
from service.single_flight import SingleFlight
from service.tracing import carried

log = structlog.get_logger(__name__)

# A relation that only one query asks for would cost the machine more than it saves.
ASKED_BEFORE_FETCHED = 2
REMEMBERED = 4_096
PENDING_AT_MOST = 16


class LocalRelations:
    """Finds and fetches cached rows; never makes a query wait. Any thread may call it."""

    def __init__(self, relations: Relations, executor: Executor, bounds: RelationBounds) -> None:
        self._bounds = bounds
        self._relations = relations
        self._executor = executor
        self._lock = threading.Lock()
        self._asked: LRUCache[str, int] = LRUCache(REMEMBERED)
        self._fetches: SingleFlight[str, None] = SingleFlight()
        self._too_large: LRUCache[str, None] = LRUCache(REMEMBERED)
        self._disabled: frozenset[str] = frozenset()

    def disable(self, fingerprints: frozenset[str]) -> None:
        """Stops using these rows for any query."""
        self._disabled |= fingerprints

    def cached(
        self, wanted: Sequence[RelationQuery], parameters: Parameters, access: Access
    ) -> Mapping[str, CachedRelation]:
        """Returns those relations that the engine has cached, by fingerprint."""
        found: dict[str, CachedRelation] = {}
        for relation_query in {query.fingerprint: query for query in wanted}.values():
            if relation_query.fingerprint in self._disabled:
                continue
            cached = self._relations.cached(relation_query.fingerprint)
            if cached is not None:
                found[relation_query.fingerprint] = cached
            elif self._is_due(relation_query.fingerprint):
                fetch = carried(partial(self._fetch, relation_query, parameters, access))
                self._fetches.start(relation_query.fingerprint, fetch, self._executor.submit)
        return found

    @property
    def bounds(self) -> RelationBounds:
        """How large a relation may be to be cached."""
        return self._bounds

    def missing(self, wanted: Mapping[str, RelationQuery]) -> Mapping[str, RelationQuery]:
        """Returns those relations that the engine has not cached, but may cache."""
        with self._lock:
            out = self._disabled | self._too_large.keys()
        return {
            key: relation_query
            for key, relation_query in wanted.items()
            if relation_query.fingerprint not in out
            and self._relations.cached(relation_query.fingerprint) is None
        }

    def cache(self, relation: RelationQuery, read: KeysAndRows) -> bool:
        """Gives the engine rows that were read with a filter's keys; returns whether it caches them.

        On failure, the rows are read from their files as usual.
        """
        cached = None
        try:
            if read.rows is not None:
                cached = self._relations.put(relation, read.rows, self._bounds)
        except GatewayError as failure:
            log.info("relation_not_kept", code=failure.code, relation=relation.rows_of.predicate)
            return False
        if cached is None:
            self._refuse(relation.fingerprint)
        return cached is not None

    def fetch(self, relation: RelationQuery, parameters: Parameters, access: Access) -> bool:
        """Makes the engine read the rows, and waits for it; returns whether it caches them now."""
        self._fetch(relation, parameters, access)
        return self._relations.cached(relation.fingerprint) is not None

    def _is_due(self, fingerprint: str) -> bool:
        with self._lock:
            if fingerprint in self._fetches or fingerprint in self._too_large:
                return False
            self._asked[fingerprint] = count = self._asked.get(fingerprint, 0) + 1
            return count >= ASKED_BEFORE_FETCHED and len(self._fetches) < PENDING_AT_MOST

    def _fetch(self, wanted: RelationQuery, parameters: Parameters, access: Access) -> None:
        try:
            cached = self._relations.fetch(wanted, _used(parameters, wanted), self._bounds, access)
        except GatewayError as failure:
            # The engine may have been lost: the relation is fetched when it was asked for as often again.
            log.info("relation_not_fetched", code=failure.code, relation=wanted.rows_of.predicate)
        except Exception as failure:  # the outermost edge of a worker: the table's files are read instead
            log.exception("relation_not_fetched", error=type(failure).__name__)
        else:
            if cached is None:
                self._refuse(wanted.fingerprint)
        finally:
            with self._lock:
                self._asked.pop(wanted.fingerprint, None)

    def _refuse(self, fingerprint: str) -> None:
        with self._lock:
            self._too_large[fingerprint] = None


def _used(parameters: Parameters, wanted: RelationQuery) -> Parameters:
    if not isinstance(parameters, Mapping):
        return ()
    return {name: parameter for name, parameter in parameters.items() if name in wanted.parameter_names}
