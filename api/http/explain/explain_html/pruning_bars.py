"""A card for each scan, with a bar for each level: selected of total."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from api.http.explain.explain_html.names import breakable
from api.http.explain.explain_html.numbers import count, percentage, size
from service.model.query.scan_metrics import ScanRecord, Selection


def pruning_bars(scans: Sequence[ScanRecord], has_run: bool = True, has_ended: bool = True) -> str:
    """Returns the cards of all scans. A query that was only planned has no rows to show."""
    if not scans:
        return f'<p class="none">{"No table was scanned" if has_ended else "Not known yet"}.</p>'
    return f'<div class="scans">{"".join(_card(scan, has_run) for scan in scans)}</div>'


def _card(scan: ScanRecord, has_run: bool) -> str:
    metrics = scan.metrics
    bars = [
        bar("partitions", metrics.partitions, count),
        bar("manifests", metrics.manifests, count),
        bar("data files", metrics.data_files, count),
        bar("bytes", metrics.bytes, size),
    ]
    if metrics.row_groups is not None:
        bars.append(bar("row groups", metrics.row_groups, count))
    if has_run:
        bars.append(bar("rows", metrics.rows, count))
    how = "" if scan.has_run else ", not run"
    native = ", pruned by Spark too" if scan.is_native else ""
    left_out = (
        f", {scan.files_left_out} data files left out by their row groups" if scan.files_left_out else ""
    )
    note = f"{scan.state}, planned in {metrics.planning_ms} ms{how}{native}{left_out}"
    title = f'<h3>{breakable(scan.table)}</h3><p class="note">{note}</p>'
    return f'<article class="scan">{title}<dl>{"".join(bars)}</dl></article>'


def bar(level: str, selection: Selection, shown: Callable[[int], str]) -> str:
    """Returns the bar of one level: selected of total."""
    exact = f"{selection.selected} of {selection.total} {level}"
    fill = f'<div class="fill" style="width:{percentage(selection)}%"></div>'
    track = f'<div class="track" title="{exact}">{fill}</div>'
    label = f"{shown(selection.selected)} of {shown(selection.total)}"
    return f"<dt>{level}</dt><dd>{track}<span>{label}</span></dd>"
