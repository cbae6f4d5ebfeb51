"""The table of candidate filters with their reasons."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from api.http.explain.explain_html.names import breakable
from api.http.explain.explain_html.numbers import count, size
from api.http.rendering.reasons import SENTENCES
from service.model.filters.dynamic_filter import Build
from service.model.filters.filter_record import FilterRecord
from service.model.filters.key_set import FilterForm, FilterSource

# A filter may have hundreds of ranges. The page shows a few; the JSON has all.
MAX_RANGES_SHOWN = 5

_HEAD = "<tr><th>filter</th><th>prunes</th><th>by the keys of</th><th>keys</th><th>outcome</th></tr>"


def filter_table(filters: Sequence[FilterRecord], has_ended: bool = True) -> str:
    """Returns a row for each filter, applied filters first."""
    if not filters:
        return f'<p class="none">{"No table was read" if has_ended else "Not known yet"}.</p>'
    rows = sorted(filters, key=lambda filter_: not filter_.is_applied)
    body = "".join(_row(row) for row in rows)
    return f'<div class="wide"><table><thead>{_HEAD}</thead><tbody>{body}</tbody></table></div>'


def _row(record: FilterRecord) -> str:
    cells = [
        f"<b>{escape(record.filter_id)}</b><small>{record.join_type.value}</small>"
        if record.is_candidate
        else "–",
        f"{breakable(record.probe.known_as)}<small>{breakable(', '.join(record.probe.columns))}</small>",
        _build(record.build),
        _keys(record),
        _outcome(record),
    ]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _build(build: Build) -> str:
    tables, columns = ", ".join(map(str, build.tables)), ", ".join(build.columns)
    predicate = f"<code>{breakable(build.predicate)}</code>" if build.predicate else ""
    return f"{breakable(tables)}<small>{breakable(columns)}</small>{predicate}"


def _keys(record: FilterRecord) -> str:
    if record.source is FilterSource.NONE:
        return "–"
    source = record.source.value.lower().replace("_", " ")
    how = f"{source} in {record.collection_ms} ms, {size(record.byte_count)}"
    form = "" if record.form is FilterForm.NONE else f" as {record.form.value}"
    return f"{count(record.value_count)}{form}<small>{how}</small>{_ranges(record)}"


def _ranges(record: FilterRecord) -> str:
    shown = "".join(
        f"<li>{escape(low)} … {escape(high)}</li>" for low, high in record.ranges[:MAX_RANGES_SHOWN]
    )
    more = len(record.ranges) - MAX_RANGES_SHOWN
    rest = f"<li>and {more} more</li>" if more > 0 else ""
    return f"<ul>{shown}{rest}</ul>" if shown else ""


def _outcome(record: FilterRecord) -> str:
    kind = "applied" if record.is_applied else "refused"
    badge = f'<span class="badge {kind}">{record.reason.value}</span>'
    note = f"<small>{escape(record.cache_note)}</small>" if record.cache_note else ""
    said = f"Here: {record.detail}." if record.detail else SENTENCES[record.reason]
    return f"{badge}<small>{escape(said)}</small>{note}"
