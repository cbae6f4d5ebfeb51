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
# With all rows in memory, those under one condition save only the filter, and the join if that is eliminated.
ASKED_BEFORE_FETCHED_BESIDE_WIDER = 8
# Two conditions may be those of two charts. A third one says that there will be others.
CONDITIONS_BEFORE_WIDENED = 3
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
        self._conditions: LRUCache[str, frozenset[str]] = LRUCache(REMEMBERED)
        self._fetches: SingleFlight[str, None] = SingleFlight()
        self._too_large: LRUCache[str, None] = LRUCache(REMEMBERED)
        self._disabled: frozenset[str] = frozenset()

    def disable(self, fingerprints: frozenset[str]) -> None:
        """Stops using these rows for any query."""
        self._disabled |= fingerprints

    def cached(
        self, wanted: Sequence[RelationQuery], parameters: Parameters, access: Access
    ) -> Mapping[str, CachedRelation]:
        """Returns those relations that the engine has cached, by the fingerprint that was asked for.

        In place of one that is not cached, its wider relation may be returned, with the fingerprint of that.
        """
        found: dict[str, CachedRelation] = {}
        for relation_query in {query.fingerprint: query for query in wanted}.values():
            if relation_query.fingerprint in self._disabled:
                continue
            exact = self._relations.cached(relation_query.fingerprint)
            wider = None if exact is not None else self._wider(relation_query)
            cached = exact or wider
            if cached is not None:
                found[relation_query.fingerprint] = cached
            if exact is None:
                self._fetch_due(relation_query, parameters, access, has_wider=wider is not None)
        return found

    def in_memory(self, relation: RelationQuery) -> RelationQuery | None:
        """Returns the relation if the engine has cached it, else its wider one if that is cached."""
        if relation.fingerprint in self._disabled:
            return None
        if self._relations.cached(relation.fingerprint) is not None:
            return relation
        return relation.wider if self._wider(relation) is not None else None

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
        """Makes the engine read the rows, and waits for it; returns whether it caches them now.

        The next one may have other conditions, so the wider relation may follow in the background.
        """
        self._fetch(relation, parameters, access)
        self._widen(relation, parameters, access)
        return self._relations.cached(relation.fingerprint) is not None

    def _wider(self, relation: RelationQuery) -> CachedRelation | None:
        if relation.wider is None or relation.wider.fingerprint in self._disabled:
            return None
        return self._relations.cached(relation.wider.fingerprint)

    def _fetch_due(
        self, relation: RelationQuery, parameters: Parameters, access: Access, *, has_wider: bool
    ) -> None:
        """Begins to fetch the relation or its wider one, if queries have asked for it often enough."""
        if not has_wider:
            self._widen(relation, parameters, access)
        if self._is_due(relation.fingerprint, has_wider=has_wider):
            self._start(relation, parameters, access)

    def _widen(self, relation: RelationQuery, parameters: Parameters, access: Access) -> None:
        if relation.wider is not None and self._is_to_widen(relation, relation.wider):
            self._start(relation.wider, parameters, access)

    def _start(self, relation: RelationQuery, parameters: Parameters, access: Access) -> None:
        fetch = carried(partial(self._fetch, relation, parameters, access))
        self._fetches.start(relation.fingerprint, fetch, self._executor.submit)

    def _is_due(self, fingerprint: str, *, has_wider: bool) -> bool:
        with self._lock:
            if not self._may_be_fetched(fingerprint):
                return False
            self._asked[fingerprint] = count = self._asked.get(fingerprint, 0) + 1
            least = ASKED_BEFORE_FETCHED_BESIDE_WIDER if has_wider else ASKED_BEFORE_FETCHED
            return count >= least and len(self._fetches) < PENDING_AT_MOST

    def _is_to_widen(self, relation: RelationQuery, wider: RelationQuery) -> bool:
        with self._lock:
            if not self._may_be_fetched(wider.fingerprint):
                return False
            asked = self._conditions.get(wider.fingerprint, frozenset())
            if len(asked) < CONDITIONS_BEFORE_WIDENED:
                self._conditions[wider.fingerprint] = asked = asked | {relation.fingerprint}
            return len(asked) >= CONDITIONS_BEFORE_WIDENED and len(self._fetches) < PENDING_AT_MOST

    def _may_be_fetched(self, fingerprint: str) -> bool:
        is_out = fingerprint in self._disabled or fingerprint in self._too_large
        return not is_out and fingerprint not in self._fetches

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
                self._conditions.pop(wanted.fingerprint, None)

    def _refuse(self, fingerprint: str) -> None:
        with self._lock:
            self._too_large[fingerprint] = None


def _used(parameters: Parameters, wanted: RelationQuery) -> Parameters:
    if not isinstance(parameters, Mapping):
        return ()
    return {name: parameter for name, parameter in parameters.items() if name in wanted.parameter_names}
