"""Finds the filters of a query's text, once for as long as its tables stay as they are."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Any

import structlog

from service.bounded_lru import BoundedLru
from service.model.filters.filter_record import Reason
from service.model.policies.decisions import Access
from service.model.query.query import Parameter, QueryRequest, by_name
from service.model.tables.sql import ParsedQuery
from service.model.tables.tables import TableAt, TableFacts
from service.ports.bounded_calls import BoundedCalls, CallGivenUp
from service.ports.clock import Clock
from service.ports.filters.filter_keys import ProbeValues
from service.ports.tables.catalogs import Catalogs, Views
from service.pruning.conditions.days_around import days_around
from service.pruning.detection import Detection
from service.query.filtering.detection.detected import Detected
from service.query.filtering.detection.in_process import InProcess
from service.query.filtering.detection.look_for_filters import (
    ANNOUNCE,
    IS_CLUSTERED,
    FilterSearch,
    look_for_filters,
)
from service.query.filtering.detection.probe_knowledge import ProbeColumn, ProbeKnowledge
from service.query.filtering.detection.read_text import (
    MAX_CACHED_TEXTS,
    TextReader,
    calls_for,
    tree_bytes,
)
from service.query.filtering.detection.text_readings import Reading, TextReadings
from service.query.filtering.unpinned import UnpinnedTables, has_moved
from service.query.filtering.unpinned_references import has_changed

log = structlog.get_logger(__name__)
# For requests that want filters at any cost: time and memory still bound the collection.
UNBOUNDED = sys.maxsize


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectionBounds:
    """Where to look for filters. `session` has the settings that change a set of keys, such as the time zone.

    A query waits at most `max_manifest_ms` to learn what the files of its tables hold. Trees of texts take
    about `max_tree_bytes`, and the results of detection as much again. `is_keeping_rows`: rows may be kept
    with keys.
    """

    max_build_rows: int
    catalog_names: frozenset[str]
    session: Mapping[str, str]
    max_relation_rows: int = 10_000
    is_expanding_views: bool = True
    max_manifest_ms: int = 500
    max_tree_bytes: int = 64 << 20
    is_keeping_rows: bool = False


@dataclass(frozen=True, slots=True)
class _Key:
    """Equal for two requests exactly if detection returns the same for both, as far as files are known."""

    sql: str
    catalog: str | None
    schema: str | None
    parameters: str
    versions: frozenset[tuple[TableAt, str, int, int | None]]
    days: tuple[date, ...]
    is_unbounded: bool
    takes_whole_builds: bool


@dataclass(frozen=True, slots=True)
class _Question:
    """The input of one detection, and the key of its answer. The key is cached, so it holds no tree."""

    key: _Key
    parsed: ParsedQuery
    names: Mapping[int, TableAt]
    facts: Mapping[TableAt, TableFacts]
    request: QueryRequest


@dataclass(frozen=True, slots=True)
class _Answer:
    """A detection result, and the columns whose values in files were still `pending`."""

    detection: Detection | Reason | None
    pending: tuple[ProbeColumn, ...]


class Detections:
    """Finds filters. Any thread may call it."""

    def __init__(
        self,
        catalogs: Catalogs,
        views: Views,
        probe_values: ProbeValues,
        clock: Clock,
        bounds: DetectionBounds,
        calls: BoundedCalls | None = None,
    ) -> None:
        self._catalogs = catalogs
        self._probe_values = probe_values
        self._clock = clock
        self._bounds = bounds
        self._calls = calls or InProcess()
        self._zone = bounds.session.get("spark.sql.session.timeZone", bounds.session.get("timeZone"))
        self._parsed = TextReader(self._calls, self._zone, bounds.max_tree_bytes).read
        self._readings = TextReadings(
            catalogs,
            views,
            self._parsed,
            bounds.catalog_names,
            is_expanding=bounds.is_expanding_views,
        )
        self._cached: BoundedLru[_Key, _Answer] = BoundedLru(MAX_CACHED_TEXTS, bounds.max_tree_bytes)

    def of(
        self,
        request: QueryRequest,
        access: Access,
        min_table_bytes: int = 0,
        *,
        takes_whole_builds: bool = False,
    ) -> Detected | Reason:
        """Returns the query's filters for its tables as they are now, or the reason why it runs as written.

        Tables have the restrictions of `access`; those that it does not allow are left to the engine.
        It waits a little to learn what the tables' files hold, except for tables smaller than
        `min_table_bytes`. With `takes_whole_builds`, keys also come from tables that nothing filters.
        """
        began_ms = self._clock.elapsed_ms()
        parsed = self._parsed(request.sql)
        parsed_ms = self._clock.elapsed_ms()
        if isinstance(parsed, Reason):
            return parsed
        within_ms = self._bounds.max_manifest_ms
        knowledge = ProbeKnowledge(self._probe_values, self._clock, within_ms, min_table_bytes)
        for reading in self._readings.of(parsed, request, access):
            question = self._question(request, reading, takes_whole_builds=takes_whole_builds)
            detection = self._found(question, knowledge)
            if isinstance(detection, Reason):
                return detection
            if detection is not None:
                return Detected(
                    reading.parsed,
                    reading.names,
                    reading.facts,
                    detection,
                    parse_ms=parsed_ms - began_ms,
                    detect_ms=self._clock.elapsed_ms() - parsed_ms,
                    knowledge=knowledge,
                    expanded_views=reading.expanded_views,
                )
        return Reason.NOT_A_QUERY

    def expanded(self, request: QueryRequest, access: Access) -> Reading | None:
        """Returns the query with its views expanded; None if it has none that can be."""
        parsed = self._parsed(request.sql)
        if isinstance(parsed, Reason):
            return None
        readings = self._readings.of(parsed, request, access)
        return next((reading for reading in readings if reading.expanded_views), None)

    def has_moved(self, tables: UnpinnedTables) -> bool:
        """Whether keys that were collected from these tables may be out of date."""
        return has_moved(tables, self._catalogs)

    def has_changed(self, tables: UnpinnedTables) -> bool:
        """Whether these tables may have other rows than when filters were looked for."""
        return has_changed(tables.references, self._catalogs)

    def _question(self, request: QueryRequest, reading: Reading, *, takes_whole_builds: bool) -> _Question:
        key = _Key(
            sql=reading.parsed.sql,
            catalog=request.catalog,
            schema=request.schema,
            parameters=_text_of(by_name(request.parameters)),
            versions=frozenset(
                (table, fact.identity, fact.schema_id, fact.snapshot_id)
                for table, fact in reading.facts.items()
            ),
            days=days_around(self._clock.now(), self._bounds.session),
            is_unbounded=request.pruning.is_always_worth_it,
            takes_whole_builds=takes_whole_builds,
        )
        return _Question(key, reading.parsed, reading.names, reading.facts, request)

    def _found(self, question: _Question, knowledge: ProbeKnowledge) -> Detection | Reason | None:
        cached = self._cached.get(question.key)
        if cached is None or knowledge.has_news(cached.pending):
            detection: Detection | Reason | None
            try:
                detection = self._detect(question, knowledge)
            except CallGivenUp as failure:
                log.warning("filters_not_found", reason=str(failure))
                if failure.is_busy:
                    return Reason.TOO_COMPLEX
                detection = Reason.TOO_COMPLEX
            cached = _Answer(detection, knowledge.pending)
            self._cached.put(question.key, cached, tree_bytes(question.key.sql))
        return cached.detection

    def _detect(self, question: _Question, knowledge: ProbeKnowledge) -> Detection | None:
        """Returns the filters; None if the text's names cannot be resolved.

        Raises:
            CallGivenUp: the search took too long; the query then runs as written.
        """
        bounds = self._bounds
        search = FilterSearch(
            sql=question.key.sql,
            zone=self._zone,
            catalog_names=bounds.catalog_names,
            catalog=question.key.catalog,
            schema=question.key.schema,
            names=dict(question.names),
            facts=dict(question.facts),
            parameters=dict(by_name(question.request.parameters)),
            session=dict(bounds.session),
            days=question.key.days,
            max_build_rows=UNBOUNDED if question.key.is_unbounded else bounds.max_build_rows,
            max_fetched_rows=bounds.max_build_rows,
            max_relation_rows=bounds.max_relation_rows,
            is_keeping_rows=bounds.is_keeping_rows,
            takes_whole_builds=question.key.takes_whole_builds,
        )
        calls = calls_for(question.key.sql, self._calls)
        return calls.call(look_for_filters, search, answer=partial(_answer, knowledge))


def _answer(knowledge: ProbeKnowledge, name: str, *asked: Any) -> object:
    if name == ANNOUNCE:
        knowledge.announce(*asked)
        return None
    return knowledge.is_clustered(*asked) if name == IS_CLUSTERED else knowledge.clustering(*asked)


def _text_of(parameters: Mapping[str, Parameter]) -> str:
    return json.dumps(
        {name: [parameter.value, parameter.type_name] for name, parameter in parameters.items()},
        sort_keys=True,
    )
