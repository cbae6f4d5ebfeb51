"""GET /explain/{id} as text: the plans, and what every scan read of the total."""

from __future__ import annotations

from collections.abc import Iterator

from api.http.explain.progress_text import progress_lines
from api.http.rendering.plan_texts import plan_texts
from api.http.rendering.reasons import VERIFICATIONS
from service.model.filters.filter_record import FilterRecord
from service.model.query.explanation import Explanation
from service.model.query.reuse import Reused, ReuseKind
from service.model.query.scan_metrics import ScanRecord


def explain_text(explanation: Explanation) -> str:
    """Returns FLIP-248's three parts, then the filters applied and rejected, then the engine's own plans."""
    return "\n".join(_lines(explanation)) + "\n"


def _lines(explanation: Explanation) -> Iterator[str]:
    if explanation.progress is not None:
        yield "== Progress =="
        yield from progress_lines(explanation.progress)
        yield ""
    plans = plan_texts(explanation.plans)
    yield "== Abstract Syntax Tree =="
    yield plans.abstract_syntax_tree
    yield ""
    yield "== Optimized Physical Plan =="
    yield plans.optimized_physical
    yield ""
    yield "== Optimized Execution Plan =="
    yield plans.optimized_execution
    yield ""
    yield from _pruning(explanation)
    yield ""
    yield "== SQL =="
    yield explanation.sql
    if explanation.error is not None:
        yield ""
        yield f"{explanation.state}: {explanation.error.code}: {explanation.error.detail}"
    if explanation.reused is not None:
        yield ""
        what = reused_part(explanation.reused)
        yield f"reused: the {what} of query {explanation.reused.query_id}, {explanation.reused.age_ms} ms old"
    if explanation.trace_id is not None:
        yield ""
        yield f"trace: {explanation.trace_id}"
    if explanation.rewritten_sql is not None:
        yield ""
        yield "== Rewritten SQL =="
        yield explanation.rewritten_sql
    yield ""
    yield "== Spark Plan =="
    yield explanation.spark_plan.rstrip() or "(none: the query did not get that far)"


def reused_part(reused: Reused) -> str:
    """Returns what of the earlier query was used."""
    return "result" if reused.kind is ReuseKind.RESULT else "groups, brought up to date,"


def _pruning(explanation: Explanation) -> Iterator[str]:
    yield "== Pruning =="
    if not explanation.scans:
        yield "(no table was scanned)" if explanation.has_ended else "(not known yet)"
    for scan in explanation.scans:
        yield from _scan(scan, explanation.has_run)
    for filter_record in explanation.filters:
        yield _filter(filter_record)
    for rewrite in explanation.rewrites:
        of = f" of {rewrite.table}" if rewrite.table else ""
        yield f"{rewrite.kind}{of}{': ' if rewrite.detail else ''}{rewrite.detail}"
    if explanation.verification is not None:
        yield f"verification: {explanation.verification}. {VERIFICATIONS[explanation.verification]}"


def _filter(record: FilterRecord) -> str:
    if not record.is_candidate:
        columns = f"({', '.join(record.probe.columns)})" if record.probe.columns else ""
        detail = f" ({record.detail})" if record.detail else ""
        return f"{record.probe.known_as}{columns}: no candidate, {record.reason}{detail}"
    what = f"{record.filter_id} on {record.probe.known_as}({', '.join(record.probe.columns)})"
    keys = f"{', '.join(map(str, record.build.tables))}({', '.join(record.build.columns)})"
    by = f"by {keys} where {record.build.predicate}" if record.build.predicate else f"by {keys}"
    note = f", {record.cache_note}" if record.cache_note else ""
    if not record.is_applied:
        detail = f" ({record.detail})" if record.detail else ""
        return f"{what} {by}: not applied, {record.reason}{detail}{note}"
    how = f"{record.value_count} values as {record.form}, {record.source} in {record.collection_ms} ms"
    return f"{what} {by}: applied, {how}{note}"


def _scan(scan: ScanRecord, has_run: bool) -> Iterator[str]:
    metrics = scan.metrics
    how = "" if scan.has_run else ", not run"
    native = ", pruned by Spark too" if scan.is_native else ""
    yield f"{scan.table} ({scan.state}), planned in {metrics.planning_ms} ms{how}{native}"
    levels = [
        ("partitions", metrics.partitions),
        ("manifests", metrics.manifests),
        ("data files", metrics.data_files),
        ("bytes", metrics.bytes),
    ]
    if metrics.row_groups is not None:
        levels.append(("row groups", metrics.row_groups))
    if has_run:
        levels.append(("rows", metrics.rows))
    for name, selection in levels:
        left_out = f" ({scan.files_left_out} left out by their row groups)" if name == "data files" else ""
        note = left_out if scan.files_left_out else ""
        yield f"  {name:<10}  {selection.selected} of {selection.total}{note}"
