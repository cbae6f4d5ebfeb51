"""The page: what was read of the total, by which filters, in which plan."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.resources import files

from api.http.explain.explain_html.filter_table import filter_table
from api.http.explain.explain_html.names import breakable
from api.http.explain.explain_html.plan_drawing import plan_drawing
from api.http.explain.explain_html.progress_bars import progress_bars
from api.http.explain.explain_html.pruning_bars import pruning_bars
from api.http.explain.explain_html.rewrite_table import rewrite_table
from api.http.explain.explain_html.timeline import timeline
from api.http.rendering.plan_texts import NO_PLAN, plan_texts
from api.http.rendering.reasons import VERIFICATIONS
from service.model.query.explanation import Explanation
from service.model.query.reuse import ReuseKind

# The page has no script and loads nothing; with this policy the browser enforces it, whatever the SQL says.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)


_REFRESH_S = 2
_NOT_ENDED = "The query has not ended. This page shows what is known so far, and reloads by itself."


def explain_html(explanation: Explanation) -> str:
    """Returns one self-contained page. All text of the query is escaped."""
    return "\n".join(_page(explanation))


def _page(explanation: Explanation) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="color-scheme" content="light dark">'
    if not explanation.has_ended:
        yield f'<meta http-equiv="refresh" content="{_REFRESH_S}">'
    yield f"<title>{_title(explanation)}</title><style>{_style()}</style></head><body><main>"
    yield from _head(explanation)
    if explanation.progress is not None:
        yield _section("Progress", progress_bars(explanation.progress))
    read = "What was read" if explanation.has_run else "What would be read"
    yield _section(read, pruning_bars(explanation.scans, explanation.has_run, explanation.has_ended))
    yield _section("Plan", _plan(explanation))
    yield _section("Filters", filter_table(explanation.filters, explanation.has_ended))
    if explanation.rewrites:
        yield _section("Rewrites", rewrite_table(explanation.rewrites))
    yield _section("Time", timeline(explanation))
    yield from _texts(explanation)
    yield "</main></body></html>"


def _title(explanation: Explanation) -> str:
    return "Plan" if explanation.query_id is None else f"Query {explanation.query_id}"


def _head(explanation: Explanation) -> Iterator[str]:
    state = str(explanation.state)
    badge = f'<span class="state {state}">{state}</span>'
    query_id = f"<code>{explanation.query_id}</code>" if explanation.query_id is not None else ""
    yield f"<header><h1>Query</h1>{query_id}{badge}</header>"
    if explanation.trace_id is not None:
        yield f'<p class="note">Trace <code>{escape(explanation.trace_id)}</code></p>'
    if not explanation.has_ended:
        yield f'<p class="note">{_NOT_ENDED}</p>'
    if explanation.error is not None:
        error = explanation.error
        yield f'<p class="error"><code>{escape(error.code)}</code> {escape(error.detail)}</p>'
    if explanation.reused is not None:
        link = f'<a href="{explanation.reused.query_id}">{explanation.reused.query_id}</a>'
        what = "result is that" if explanation.reused.kind is ReuseKind.RESULT else "groups are those"
        more = "" if explanation.reused.kind is ReuseKind.RESULT else " They were brought up to date."
        yield f'<p class="note">Its {what} of query {link}, {explanation.reused.age_ms} ms old.{more}</p>'
    if explanation.verification is not None:
        sentence = VERIFICATIONS[explanation.verification]
        yield f'<p class="note">Verification: {explanation.verification}. {escape(sentence)}</p>'


def _plan(explanation: Explanation) -> str:
    if explanation.plans is None:
        return f'<p class="none">{escape(NO_PLAN)}</p>'
    return plan_drawing(explanation.plans.optimized_physical, explanation.scans)


def _texts(explanation: Explanation) -> Iterator[str]:
    plans = plan_texts(explanation.plans)
    yield _section("SQL", f'<pre tabindex="0">{breakable(explanation.sql)}</pre>')
    if explanation.rewritten_sql is not None:
        yield _folded("Rewritten SQL", explanation.rewritten_sql)
    yield _folded("Abstract syntax tree", plans.abstract_syntax_tree)
    yield _folded("Optimized physical plan", plans.optimized_physical)
    yield _folded("Optimized execution plan", plans.optimized_execution)
    if explanation.spark_plan:
        yield _folded("Spark's own plans", explanation.spark_plan)


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{content}</section>"


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{_code(text)}</details>"


def _code(text: str) -> str:
    return f'<pre tabindex="0">{escape(text)}</pre>'


@cache
def _style() -> str:
    return files("api.http.explain.explain_html").joinpath("style.css").read_text("utf-8")
