"""Checks that a pruned query returns the same rows as without a filter."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from service.errors.gateway_error import CallerError
from service.errors.query_errors import QueryFailed
from service.model.query.verification import Verification
from service.ports.engine.query_engine import EngineResult
from service.pruning.conditions.is_nondeterministic import is_nondeterministic
from service.pruning.sql_text.parse import parse
from service.query.execution.same_rows import same_rows

log = structlog.get_logger(__name__)


def verify(sql: str, filtered: EngineResult, run_plain: Callable[[], EngineResult]) -> Verification:
    """Compares the rows with those of `run_plain`: the same snapshots, without a filter.

    A truncated result proves nothing, because another part of the same rows may be as right. Nor does a query
    whose answer may differ each time, or one that fails over rows that the filter leaves out.

    Raises:
        GatewayError: the plain run was canceled, or the engine was lost.
    """
    if filtered.is_truncated:
        return Verification.NOT_COMPARABLE
    try:
        return _compared(sql, filtered, run_plain)
    except (CallerError, QueryFailed) as failure:
        log.warning("not_verified", code=failure.code, detail=failure.detail)
        return Verification.NOT_COMPARABLE


def _compared(sql: str, filtered: EngineResult, run_plain: Callable[[], EngineResult]) -> Verification:
    plain = run_plain()
    if plain.is_truncated:
        return Verification.NOT_COMPARABLE
    if same_rows(filtered.rows, plain.rows):
        return Verification.SAME
    parsed = parse(sql)
    # The tree does not show everything that may differ; a query that differs from itself does.
    if parsed is None or is_nondeterministic(parsed.tree) or not same_rows(plain.rows, run_plain().rows):
        log.info("not_verified")
        return Verification.NOT_COMPARABLE
    return Verification.DIFFERENT
