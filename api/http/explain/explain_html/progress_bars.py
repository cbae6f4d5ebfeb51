"""How far a running query is: a bar for its tasks, and one for each scan."""

from __future__ import annotations

from collections.abc import Iterator

from api.http.explain.explain_html.names import breakable
from api.http.explain.explain_html.numbers import count, size
from api.http.explain.explain_html.pruning_bars import bar
from service.model.query.progress import EngineProgress, QueryProgress, ScanProgress
from service.model.query.scan_metrics import Selection


def progress_bars(progress: QueryProgress) -> str:
    """Returns the bars. Numbers that are not known, or not shown, are left out."""
    return "".join(_parts(progress))


def _parts(progress: QueryProgress) -> Iterator[str]:
    share = f'<div class="fill" style="width:{progress.percent}%"></div>'
    label = f"{progress.phase.lower()}, {progress.percent} %"
    yield f'<p class="progress">{label}</p><div class="track" title="{label}">{share}</div>'
    if progress.counters is not None:
        yield f'<p class="note">{_counted(progress.counters)}</p>'
    if progress.scans:
        yield f'<div class="scans">{"".join(map(_card, progress.scans))}</div>'


def _counted(counters: EngineProgress) -> str:
    tasks = f"{count(counters.tasks_completed)} of {count(counters.tasks_total)} tasks"
    running = f"{count(counters.tasks_running)} running"
    stages = f"{count(counters.stages_completed)} of {count(counters.stages_total)} stages"
    read = [f"{count(counters.rows)} rows", *([size(counters.bytes)] if counters.bytes is not None else [])]
    return f"{tasks} ({running}), {stages}; read {' and '.join(read)} so far"


def _card(scan: ScanProgress) -> str:
    title = breakable(scan.table) if scan.table is not None else "a table"
    note = "" if scan.rows is None else f'<p class="note">{count(scan.rows)} rows so far</p>'
    files, byte_count = (scan.files_read, scan.data_files), (scan.bytes_read, scan.data_bytes)
    bars = [
        bar(level, Selection(total, read), shown)
        for level, (read, total), shown in (("data files", files, count), ("bytes", byte_count, size))
        if read is not None and total is not None
    ]
    return f'<article class="scan"><h3>{title}</h3>{note}<dl>{"".join(bars)}</dl></article>'
