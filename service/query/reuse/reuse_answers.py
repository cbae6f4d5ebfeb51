"""Answers a query with the result of an earlier one, and counts those that got one."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from service.model.query.lineage import ResultLineage
from service.model.query.reuse import ReusableResult, Reused, ReuseOutcome
from service.query.registry.query_handle import QueryHandle
from service.query.registry.recorded import record
from service.query.reuse.equal_queries import EqualQueries, KeptResult
from service.query.reuse.kept_results import age_ms
from service.query.reuse.reuse_lookup import ReusePorts
from service.query.reuse.reuse_steps import Found


class ReuseAnswers:
    """Takes the rows of results that were found. Any thread may call any method."""

    def __init__(self, ports: ReusePorts, equal: EqualQueries) -> None:
        self._ports = ports
        self._equal = equal
        self._lock = threading.Lock()
        self._outcomes: Counter[ReuseOutcome] = Counter()

    @property
    def outcomes(self) -> Mapping[ReuseOutcome, int]:
        """How many queries got an earlier result, and why the others that wanted one got none."""
        return {outcome: self._outcomes[outcome] for outcome in ReuseOutcome}

    def count(self, outcome: ReuseOutcome) -> None:
        """Counts a query that wanted an earlier result."""
        with self._lock:
            self._outcomes[outcome] += 1

    def is_answered(self, query: QueryHandle, found: Found) -> bool:
        """Answers the query if its result can still be read; returns whether the query has ended."""
        key = found.key
        kept = None if found.result is None or key is None else self._taken(query, key, found.result)
        if kept is None or key is None:
            return False
        # Those that wait for this query get the same.
        self._equal.keep(query.query_id, KeptResult(key, kept))
        now_ms = self._ports.clock.elapsed_ms()
        is_begun = query.start(now_ms)
        self._ports.readable.note(query)
        reused = Reused(kept.query_id, age_ms(kept, self._ports.clock.now()))
        if not is_begun or not query.succeed_reused(reused, kept, now_ms):
            # Its caller has canceled it, or its time is over.
            self._ports.results.drop(query.query_id)
            return True
        self.count(ReuseOutcome.HIT)
        record(query, self._ports.journal, lineage=self._lineage(kept))
        query.forget_run()
        return True

    def _taken(self, query: QueryHandle, key: str, kept: ReusableResult) -> ReusableResult | None:
        """Makes these rows those of the query too, and returns the result as it is; None if it is gone."""
        results, request = self._ports.results, query.request
        if not results.share(kept.query_id, query.query_id, key):
            self._ports.index.drop(key, kept.query_id)
            return None
        if kept.manifest.chunks:
            return kept
        manifest = results.manifest(query.query_id)
        found = None if manifest is None else replace(kept, manifest=manifest)
        if found is None or not found.fits(request.row_limit, request.byte_limit):
            results.drop(query.query_id)
            return None
        return found

    def _lineage(self, kept: ReusableResult) -> ResultLineage | None:
        if not self._ports.lineage.is_followed:
            return None
        return ResultLineage(kept.manifest.columns, kept.lineage, kept.cached_tables)
