"""An explanation as a picture for notebooks: one bar for each scan, and a table of filters.

It has no script and loads nothing. All text of the query is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from sluice_client.explaining.explanation_facts import ExplanationFacts, Filter, Scan
from sluice_client.explaining.sizes import share, size

_WIDTH, _ROW, _BAR = 640, 44, 12


def picture(explanation: ExplanationFacts) -> str:
    """Returns HTML with an SVG inside."""
    return "\n".join(_parts(explanation))


def svg(scans: tuple[Scan, ...]) -> str:
    """Returns the bars: what each scan read of its table's bytes."""
    height = max(len(scans), 1) * _ROW
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img"'
    )
    style = ' font-family="sans-serif" font-size="12" fill="currentColor">'
    return head + style + "".join(_bar(scan, at * _ROW) for at, scan in enumerate(scans)) + "</svg>"


def _parts(explanation: ExplanationFacts) -> Iterator[str]:
    name = "Plan" if explanation.query_id is None else f"Query <code>{explanation.query_id}</code>"
    total_ms = sum(explanation.timings_ms.values())
    yield f"<div><p><b>{name}</b> {escape(explanation.state)}, {total_ms} ms</p>"
    if explanation.error is not None:
        yield f"<p>{escape(explanation.error)}</p>"
    yield svg(explanation.scans) if explanation.scans else "<p>No table was scanned.</p>"
    if explanation.filters:
        head = "<tr><th>filter</th><th>on</th><th>keys from</th><th>result</th></tr>"
        yield f"<table>{head}{''.join(map(_row, explanation.filters))}</table>"
    yield f"<details><summary>SQL</summary><pre>{escape(explanation.sql)}</pre></details>"
    if explanation.rewritten_sql is not None:
        rewritten = escape(explanation.rewritten_sql)
        yield f"<details><summary>SQL as it ran</summary><pre>{rewritten}</pre></details>"
    yield "</div>"


def _bar(scan: Scan, top: int) -> str:
    files = f"{scan.data_files.selected} of {scan.data_files.total} files"
    read = f"{size(scan.bytes.selected)} of {size(scan.bytes.total)}" + ("" if scan.has_run else ", not run")
    filled = round(_WIDTH * share(scan.bytes), 1)
    return (
        f'<text x="0" y="{top + 14}">{escape(scan.table)}</text>'
        f'<text x="{_WIDTH}" y="{top + 14}" text-anchor="end">{files}, {read}</text>'
        f'<rect x="0" y="{top + 20}" width="{_WIDTH}" height="{_BAR}" opacity="0.15"/>'
        f'<rect x="0" y="{top + 20}" width="{filled}" height="{_BAR}" fill="#00897b"/>'
    )


def _row(found: Filter) -> str:
    probe = f"{found.probe_table} ({', '.join(found.probe_columns)})"
    keys = f"{', '.join(found.build_tables)} ({', '.join(found.build_columns)})" if found.build_tables else ""
    applied = f"{found.values} keys, {found.form}, {found.source}"
    result = applied if found.is_applied else f"{found.reason} {found.detail}".strip()
    cells = (found.filter_id, probe, keys, result)
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
