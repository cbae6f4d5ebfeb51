"""Rows of small tables, cached in the driver's JVM and read by queries as temporary views.

Source: Spark's `LocalRelation`, which its optimizer filters, projects and broadcasts without a job.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from cachetools import LRUCache
from pyspark.sql import SparkSession

from service.errors.query_errors import QueryFailed
from service.model.filters.relations import CachedRelation, RelationBounds, RelationQuery
from service.model.operations.usage import CacheUse
from service.model.policies.decisions import Access
from service.model.query.query import Parameters
from spark_session.java.own_classes import java_instance
from spark_session.results.row_collector import RowCollector
from spark_session.session.child_sessions import ChildSessions
from spark_session.session.guard import Guard
from spark_session.session.parameters import spark_arguments
from spark_session.session.table_guards import TableGuards

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway, JavaObject

JOB_TAG = "local-relation"
# The memory of a row besides its bytes.
ROW_BYTES = 64
# The caller bounds them.
_ANY_BYTES = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class _Entry:
    cached_relation: CachedRelation
    plan: JavaObject


class LocalRelationStore:
    """The relations of one JVM; evicts the least recently read. Several threads may use it."""

    def __init__(
        self,
        gateway: JavaGateway,
        children: ChildSessions,
        rows: RowCollector,
        guard: Guard,
        table_guards: TableGuards,
        max_bytes: int,
        made_of_them: JavaObject,
    ) -> None:
        self._java = java_instance(gateway, "sluice.sessions.LocalRelations")
        self._java.use(made_of_them)
        self._children = children
        self._rows = rows
        self._guard = guard
        self._table_guards = table_guards
        self._lock = threading.Lock()
        self._cached = self._made_cache(max_bytes)

    @property
    def use(self) -> CacheUse:
        """Returns the current use. Takes no lock: an eviction may call into a JVM that hangs."""
        return CacheUse(len(self._cached), int(self._cached.currsize), int(self._cached.maxsize))

    def cached(self, fingerprint: str) -> CachedRelation | None:
        """Returns the relation, if it is cached."""
        entry = self._get(fingerprint)
        return None if entry is None else entry.cached_relation

    def fetch(
        self,
        query: RelationQuery,
        parameters: Parameters,
        bounds: RelationBounds,
        access: Access,
        tag: str = JOB_TAG,
    ) -> CachedRelation | None:
        """Reads the rows that `access` shows, and caches them; None if they are too many or too large.

        Its jobs carry the tag.

        Raises:
            TableAccessDenied: it does not allow the query.
            CallerError: a value in the query is larger than it may be.
            PySparkException: Spark refused the query, or it failed.
        """
        with self._children.taken(None, None, tag) as child:
            self._guard.allow_queries_only(child, query.sql, parameters)
            asked = child.sql(query.sql, spark_arguments(parameters))
            seen, _ = self._table_guards.guarded(child, query.sql, asked, access)
            frame = seen.limit(bounds.max_rows + 1)
            rows = self._rows.objects(frame)
            byte_count = self._java.sizeOf(rows) + ROW_BYTES * len(rows)
            if len(rows) > bounds.max_rows or byte_count > min(bounds.max_bytes, self._cached.maxsize):
                return None
            plan = self._java.relation(rows, frame._jdf.schema())
            return self._cache(CachedRelation(query.fingerprint, len(rows), byte_count), plan)

    def put(self, query: RelationQuery, rows: pa.Table, bounds: RelationBounds) -> CachedRelation | None:
        """Caches rows that were read elsewhere; None if they are too many or too large. Runs no job.

        Raises:
            Py4JJavaError: the engine has no such type, or no memory for them.
        """
        return self.hold(query.fingerprint, rows, bounds)

    def hold(self, fingerprint: str, rows: pa.Table, bounds: RelationBounds) -> CachedRelation | None:
        """Caches rows under any fingerprint; None if they are too many or too large. Runs no job.

        Raises:
            Py4JJavaError: the engine has no such type, or no memory for them.
        """
        max_bytes = min(bounds.max_bytes, self._cached.maxsize)
        if rows.num_rows > bounds.max_rows or rows.nbytes > max_bytes:
            return None
        plan = self._java.ofArrow(_stream(rows), max_bytes, ROW_BYTES)
        if plan is None:
            return None
        byte_count = self._java.sizeOfRelation(plan) + ROW_BYTES * rows.num_rows
        return self._cache(CachedRelation(fingerprint, rows.num_rows, byte_count), plan)

    def bind_rows(self, child: SparkSession, name: str, rows: pa.Table) -> None:
        """Lets the session read these rows by this name. They are not cached. Runs no job.

        Raises:
            Py4JJavaError: the engine has no such type, or no memory for them.
        """
        self._java.bind(child._jsparkSession, name, self._java.ofArrow(_stream(rows), _ANY_BYTES, ROW_BYTES))

    def let_go(self, fingerprint: str) -> None:
        """Forgets a relation; the JVM frees it when no query reads it any more."""
        with self._lock:
            self._cached.pop(fingerprint, None)

    def clear(self) -> int:
        """Forgets all relations, and returns how many there were; see `bind` for queries that wanted one."""
        with self._lock:
            forgotten, self._cached = self._cached, self._made_cache(int(self._cached.maxsize))
        # Outside the lock: to let go of them may call into a JVM that hangs.
        return len(forgotten)

    @staticmethod
    def _made_cache(max_bytes: int) -> LRUCache[str, _Entry]:
        return LRUCache(max_bytes, lambda entry: entry.cached_relation.byte_count)

    def _cache(self, cached_relation: CachedRelation, plan: JavaObject) -> CachedRelation:
        with self._lock:
            self._cached[cached_relation.fingerprint] = _Entry(cached_relation, plan)
        return cached_relation

    def bind(self, child: SparkSession, relations: Mapping[str, str]) -> None:
        """Lets the session read these relations, each by its name.

        Raises:
            QueryFailed: one of them is no longer cached.
        """
        for name, fingerprint in relations.items():
            entry = self._get(fingerprint)
            if entry is None:
                raise QueryFailed("Rows that this query reads from memory no longer exist.")
            self._java.bind(child._jsparkSession, name, entry.plan)

    def fold_as_cached(self, child: SparkSession) -> None:
        """Lets the session's query use what earlier ones have made of these relations."""
        self._java.foldAsCached(child._jsparkSession)

    def _get(self, fingerprint: str) -> _Entry | None:
        with self._lock:
            entry: _Entry | None = self._cached.get(fingerprint)
            return entry


def _stream(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return bytes(sink.getvalue())
