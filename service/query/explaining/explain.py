"""Builds the explanation of a query from its record."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import structlog
from sqlglot import exp
from sqlglot.errors import SqlglotError

from service.model.policies.decisions import FULL_ACCESS
from service.model.query.explanation import Explanation, QueryPlans
from service.model.query.query import QueryRecord
from service.ports.bounded_calls import Answer, BoundedCalls, CallGivenUp
from service.pruning.plans.abstract_syntax_tree import abstract_syntax_tree
from service.pruning.plans.is_deep import is_deep
from service.pruning.plans.join_operator import join_operator
from service.pruning.plans.optimized_execution_plan import optimized_execution_plan
from service.pruning.plans.optimized_physical_plan import optimized_physical_plan
from service.pruning.plans.ran_query import ran_query
from service.pruning.plans.with_fields import with_fields
from service.pruning.sql_text.parse import parse
from service.query.filtering.detection.in_process import InProcess
from service.query.filtering.detection.read_text import calls_for

log = structlog.get_logger(__name__)
# The read options that the gateway writes after a pruned table; sqlglot cannot read them.
_READ_OPTIONS = re.compile(r"(?<=\d) WITH \(`[^)]*\)")


def explain(record: QueryRecord, calls: BoundedCalls | None = None) -> Explanation:
    """Turns the record into an explanation; `calls` renders its plans, if they are done in time."""
    return Explanation(
        query_id=record.query_id,
        sql=record.sql,
        state=record.state,
        error=record.error,
        scans=record.scans,
        spark_plan=record.spark_plan,
        queued_ms=record.queued_ms,
        planning_ms=record.planning_ms,
        running_ms=record.running_ms,
        rewritten_sql=record.rewritten_sql,
        filters=record.filters,
        parse_ms=record.parse_ms,
        detect_ms=record.detect_ms,
        filters_ms=record.filters_ms,
        plans=_drawn(record, calls or InProcess()),
        rewrites=record.rewrites,
        verification=record.verification,
        trace_id=None if record.trace is None else record.trace.trace_id,
        applied=record.applied,
        reused=record.reused,
        catalog=record.catalog,
        schema=record.schema,
    )


def _drawn(record: QueryRecord, calls: BoundedCalls) -> QueryPlans | None:
    try:
        return calls_for(record.sql, calls).call(_plans_apart, _without_rights(record))
    except CallGivenUp as failure:
        log.warning("plans_not_drawn", reason=str(failure))
        return None


def _without_rights(record: QueryRecord) -> QueryRecord:
    """Returns the record as another process can get it: rights belong to policies that have locks."""
    return replace(record, access=FULL_ACCESS, origin=None, lineage=None, error=None)


def _plans_apart(_: Answer, record: QueryRecord) -> QueryPlans | None:
    return plans_of(record)


def plans_of(record: QueryRecord) -> QueryPlans | None:
    """Returns the plans of the query as asked and as it ran; None if sqlglot cannot read its texts."""
    try:
        tree = _tree(record.sql)
        if tree is None:
            return None
        asked = abstract_syntax_tree(tree, _tables(record))
        ran = ran_query(tree, _rewritten(record), record.filters, record.rewrites, record.scans)
        given = abstract_syntax_tree(ran.tree, _tables(record))
        if is_deep(asked) or is_deep(given):
            return None
        physical = optimized_physical_plan(given, ran, join_operator(record.spark_plan))
        physical = with_fields(physical, record.scans)
        return QueryPlans(asked, physical, optimized_execution_plan(physical))
    except (SqlglotError, RecursionError):
        # A text that is too deep to be drawn must not cost the caller the explanation.
        return None


def _tree(sql: str) -> exp.Query | None:
    parsed = parse(sql)
    return parsed.tree if parsed is not None else None


def _rewritten(record: QueryRecord) -> exp.Query | None:
    return _tree(_READ_OPTIONS.sub("", record.rewritten_sql)) if record.rewritten_sql is not None else None


def _tables(record: QueryRecord) -> Sequence[str]:
    in_filters = [
        str(name)
        for filter_record in record.filters
        for name in (filter_record.probe.table, *filter_record.build.tables)
    ]
    # A filter may spell a name in lower case, and the scan as its catalog does.
    names = [*(scan.table for scan in record.scans), *in_filters]
    return tuple({name.lower(): name for name in reversed(names)}.values())
