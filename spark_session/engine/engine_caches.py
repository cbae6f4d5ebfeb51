"""The caches of the engine's JVM, as one that an operator may look at and empty."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from py4j.protocol import Py4JError

from service.errors.unavailable import EngineNotReady
from service.model.operations.usage import CacheUse
from spark_session.session.warm_session import WarmSession


class EngineCache(StrEnum):
    """The caches by name. LOCAL_RELATIONS are small tables; KEPT_ROWS is what queries make of them.

    ROW_GROUP_COUNTS are for explanations, and for the choice of files if that is configured.
    """

    LOCAL_RELATIONS = "local_relations"
    KEPT_ROWS = "kept_rows"
    TABLE_FILES = "table_files"
    MANIFEST_ENTRIES = "manifest_entries"
    KEY_TUPLES = "key_tuples"
    KEPT_PLANS = "kept_plans"
    ROW_GROUP_COUNTS = "row_group_counts"


EMPTY = dict.fromkeys(EngineCache, CacheUse(0, 0, 0, 0, 0, 0)) | {
    EngineCache.LOCAL_RELATIONS: CacheUse(0, 0, 0)
}


class _Cache(Protocol):
    @property
    def use(self) -> CacheUse: ...

    def clear(self) -> int: ...


class EngineCaches:
    """The caches of the session that is warm now. Any thread may call any method."""

    def __init__(self, session: Callable[[], WarmSession | None]) -> None:
        self._session = session

    def use(self, cache: EngineCache) -> CacheUse:
        """Returns the use as of some seconds ago, counted from the start of the JVM. The JVM is not asked."""
        session = self._session()
        return EMPTY[cache] if session is None else _of(session, cache).use

    def empty(self, cache: EngineCache) -> int:
        """Forgets all entries, and returns how many there were. Blocks.

        A query that uses one now keeps it. One that was about to read a local relation runs as written.

        Raises:
            EngineNotReady: there is no session now, or its JVM does not answer. A new one has empty caches.
        """
        session = self._session()
        if session is None:
            raise EngineNotReady("The engine does not run now. Its caches are empty when it does.")
        try:
            return _of(session, cache).clear()
        except (Py4JError, OSError) as failure:
            raise EngineNotReady("The engine does not answer.") from failure


def _of(session: WarmSession, cache: EngineCache) -> _Cache:
    caches: dict[EngineCache, _Cache] = {
        EngineCache.LOCAL_RELATIONS: session.relations,
        EngineCache.KEPT_ROWS: session.kept_rows,
        EngineCache.TABLE_FILES: session.file_cache,
        EngineCache.MANIFEST_ENTRIES: session.manifest_entries,
        EngineCache.KEY_TUPLES: session.tuple_sets,
        EngineCache.KEPT_PLANS: session.kept_plans,
        EngineCache.ROW_GROUP_COUNTS: session.row_group_counts,
    }
    return caches[cache]
