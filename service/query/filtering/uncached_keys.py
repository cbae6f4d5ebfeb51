"""Keys that are not cached: carried over, found in the rows of another set, or collected."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import structlog

from service.errors.gateway_error import GatewayError
from service.errors.query_errors import QueryCanceled, QueryFailed
from service.model.filters.dynamic_filter import DynamicFilter, KeyDependency
from service.model.filters.key_set import DynamicFilteringData, FilterSource
from service.model.filters.relations import RelationQuery
from service.ports.filters.filter_cache import FilterCache
from service.ports.filters.filter_keys import KeyCarrier, KeyCollector, KeysAndRows
from service.query.filtering.engine_keys import Collecting, EngineKeys, used_parameters
from service.query.filtering.kept_sets import ContainedKeys, Keeping, KeptSets

log = structlog.get_logger(__name__)

DependencyKeys = Iterable[tuple[KeyDependency, DynamicFilteringData]]


@dataclass(frozen=True, slots=True)
class UncachedData:
    """Keys, their source, and a sentence on it; and the relation that was cached with them, if any."""

    data: DynamicFilteringData
    source: FilterSource = FilterSource.COLLECTED
    detail: str = ""
    rows_read: str = ""


class UncachedKeys:
    """Finds keys in the fastest way that is certain to find the right ones."""

    def __init__(
        self,
        reader: KeyCollector,
        engine_keys: EngineKeys,
        cache: FilterCache,
        carrier: KeyCarrier | None,
        kept_sets: KeptSets | None,
    ) -> None:
        self._reader = reader
        self._engine_keys = engine_keys
        self._cache = cache
        self._carrier = carrier
        self._kept_sets = kept_sets

    def find(
        self,
        wanted: DynamicFilter,
        asked: Collecting,
        is_disabled: Callable[[str], bool],
        dependency_keys: Callable[[], DependencyKeys],
    ) -> UncachedData:
        """Returns the keys. Keys with `is_disabled` fingerprints are not used for it.

        Raises:
            GatewayError: they could not be collected, or the query was canceled.
        """
        carried = self._carried(wanted, asked, is_disabled)
        if carried is not None:
            return UncachedData(carried, FilterSource.CARRIED_OVER)
        found = None
        if self._kept_sets is not None:
            found = self._kept_sets.look_up(wanted, used_parameters(asked, wanted), is_disabled)
        if isinstance(found, ContainedKeys):
            detail = f"The keys were found in the cached set {found.within}."
            return UncachedData(found.data, FilterSource.CONTAINED, detail)
        return self._collected(wanted, asked, dependency_keys, found)

    def sources_of(self, fingerprints: Iterable[str]) -> frozenset[str]:
        """Returns the fingerprints of the sets that this process has found these keys in."""
        return frozenset() if self._kept_sets is None else self._kept_sets.sources_of(fingerprints)

    def _carried(
        self, wanted: DynamicFilter, asked: Collecting, is_disabled: Callable[[str], bool]
    ) -> DynamicFilteringData | None:
        """Returns the keys of an earlier snapshot, if the commits since then tell that they hold."""
        is_asked = self._carrier is not None and wanted.is_cacheable
        earlier = self._cache.earlier(wanted) if is_asked else None
        if self._carrier is None or earlier is None or is_disabled(earlier.fingerprint):
            return None
        found = self._carrier.carry(wanted, earlier, used_parameters(asked, wanted), asked.is_canceled)
        if found is not None:
            self._cache.supersede(earlier.fingerprint)
        return found

    def _collected(
        self,
        wanted: DynamicFilter,
        asked: Collecting,
        dependency_keys: Callable[[], DependencyKeys],
        keeping: Keeping | None,
    ) -> UncachedData:
        """Reads the build side's files if possible: the engine takes ten times as long."""
        parameters = used_parameters(asked, wanted)
        kept = None if keeping is None else keeping.relation
        read = asked.with_rows.collect(self._reader, wanted, parameters, asked.is_canceled, kept)
        self._keep(keeping, read.with_rows, are_too_many=read.are_too_many)
        if read.keys is not None:
            keys = self._engine_keys.ranges(wanted, asked) if read.keys.exceeds_threshold else read.keys
            return UncachedData(keys, rows_read=read.relation)
        if wanted.key_dependencies:
            chained = self._engine_keys.chained(wanted, dependency_keys())
            return UncachedData(self._engine_keys.collect(chained, asked))
        cached = asked.with_rows.in_memory.get(wanted.fingerprint)
        # The read of rows cannot be refused as a rehearsal, and nothing but time ends it.
        is_fetching = cached is None and not asked.is_rehearsal
        fetched = asked.with_rows.fetch(wanted, parameters, asked.access) if is_fetching else None
        rows_read = "" if fetched is None else fetched.fingerprint
        relation = cached or fetched
        found = None if relation is None else self._from_rows(wanted, relation, asked, keeping)
        found = found or self._with_rows_by_engine(wanted, asked, keeping)
        return UncachedData(found or self._engine_keys.collect(wanted, asked), rows_read=rows_read)

    def _from_rows(
        self, wanted: DynamicFilter, relation: RelationQuery, asked: Collecting, keeping: Keeping | None
    ) -> DynamicFilteringData | None:
        """Returns the keys from the rows that the engine reads for the join, if few rows hold all keys."""
        query = None if keeping is None else keeping.query(relation.rows_of.columns)
        try:
            found = self._engine_keys.collect_from_rows(wanted, relation, asked, query)
        except QueryCanceled:
            raise
        except GatewayError as failure:
            # The cached rows may have been evicted already.
            log.info("keys_not_in_rows", code=failure.code, fingerprint=wanted.fingerprint)
            return None
        if found is None:
            return None
        self._keep(keeping, found)
        return found.keys

    def _with_rows_by_engine(
        self, wanted: DynamicFilter, asked: Collecting, keeping: Keeping | None
    ) -> DynamicFilteringData | None:
        """Returns the keys, and keeps the rows; None if these are too many, or cannot be read or kept."""
        query = None if keeping is None else keeping.query()
        if keeping is None or query is None:
            return None
        try:
            found = self._engine_keys.collect_with_rows(wanted, query, keeping.bounds, asked)
        except QueryFailed as failure:
            # Perhaps a column that the keys alone do not need cannot be read.
            log.info("rows_not_collected", code=failure.code, fingerprint=wanted.fingerprint)
            found = None
        self._keep(keeping, found, are_too_many=found is None)
        return None if found is None else found.keys

    def _keep(self, keeping: Keeping | None, read: KeysAndRows | None, *, are_too_many: bool = False) -> None:
        if self._kept_sets is None or keeping is None:
            return
        if are_too_many:
            self._kept_sets.refuse(keeping)
        elif read is not None:
            self._kept_sets.keep(keeping, read)
