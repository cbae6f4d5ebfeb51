"""Does a narrowed query give the rows that it gives without a filter?"""

from __future__ import annotations

from collections.abc import Callable

import structlog

from service.errors import CallerError, QueryFailed
from service.model.query.verification import Verification
from service.ports import EngineResult
from service.pruning.conditions.is_free_to_differ import is_free_to_differ
from service.pruning.sql_text.parse import parse
from service.query.lifecycle.same_rows import same_rows

log = structlog.get_logger(__name__)


def verify(sql: str, narrowed: EngineResult, run_plain: Callable[[], EngineResult]) -> Verification:
    """Compares with what `run_plain` gives: the same snapshots, without a filter.

    A result that was cut says nothing: another cut of the same rows may be as right. Nor does a query that
    may answer otherwise each time, or one that fails over rows which the filter leaves out.

    Raises:
        GatewayError: the plain run was canceled, or the engine was lost.
    """
    if narrowed.is_truncated:
        return Verification.NOT_COMPARABLE
    try:
        return _compared(sql, narrowed, run_plain)
    except (CallerError, QueryFailed) as failure:
        log.warning("not_verified", code=failure.code, detail=failure.detail)
        return Verification.NOT_COMPARABLE


def _compared(sql: str, narrowed: EngineResult, run_plain: Callable[[], EngineResult]) -> Verification:
    plain = run_plain()
    if plain.is_truncated:
        return Verification.NOT_COMPARABLE
    if same_rows(narrowed.rows, plain.rows):
        return Verification.SAME
    parsed = parse(sql)
    # The tree does not know everything that may differ; a query that differs from itself does.
    if parsed is None or is_free_to_differ(parsed.tree) or not same_rows(plain.rows, run_plain().rows):
        log.info("not_verified")
        return Verification.NOT_COMPARABLE
    return Verification.DIFFERENT
