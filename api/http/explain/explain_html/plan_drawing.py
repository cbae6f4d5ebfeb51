"""The plan as a picture: scans with what they read, joins, and the sources of filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from api.http.explain.explain_html.numbers import count, percentage
from api.http.explain.explain_html.plan_layout import Placed, plan_layout
from api.http.explain.explain_html.plan_outline import plan_outline
from service.model.query.explanation import PlanNode
from service.model.query.scan_metrics import ScanRecord, Selection
from service.pruning.plans.plan_text import node_text

MAX_NODES = 200
WIDTH, HEIGHT = 244, 62
COLUMN, ROW = WIDTH + 20, HEIGHT + 36
MAX_CHARACTERS = 31
MAX_OUTLINE_CHARACTERS = 300

_COLLECTOR = "DynamicFilteringDataCollector"
_PRUNED_SCAN = "DynamicFilteringTableSourceScan"
_IN_MEMORY = "LocalTableScan"
_TITLES = {
    _COLLECTOR: "Filter collector",
    _PRUNED_SCAN: "Pruned scan",
    "TableSourceScan": "Scan",
    _IN_MEMORY: "Rows in memory",
}


def plan_drawing(plan: PlanNode, scans: Sequence[ScanRecord]) -> str:
    """Returns the plan as SVG, or a sentence if it has too many nodes to be readable."""
    placed = list(plan_layout(plan).walk())
    if len(placed) > MAX_NODES:
        many = f"The plan has {len(placed)} operators, too many to draw. Its text is below."
        return f'<p class="none">{many}</p>'
    width = int((max(box.column for box in placed) + 1) * COLUMN)
    height = (max(box.row for box in placed) + 1) * ROW
    read = _read(scans)
    lines = "".join(line for box in placed for line in _lines(box))
    boxes = "".join(_box(box, read) for box in placed)
    view = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    svg = f'<svg class="plan" role="img" aria-label="The plan" {view}>{lines}{boxes}</svg>'
    # The style sheet shows one of the two.
    return f'<div class="wide">{svg}{plan_outline(plan, _described)}</div>'


def _described(node: PlanNode) -> tuple[str, str, str]:
    return (
        _kind(node.operator),
        escape(_title(node)),
        " ".join(_detail(node).split())[:MAX_OUTLINE_CHARACTERS],
    )


def _read(scans: Sequence[ScanRecord]) -> Mapping[str, Selection]:
    """Returns the data files of tables that were scanned once: several scans cannot be distinguished."""
    times = Counter(scan.table.lower() for scan in scans)
    tables = {scan.table.lower(): scan.metrics.data_files for scan in scans}
    return {name: files for name, files in tables.items() if times[name] == 1}


def _lines(placed: Placed) -> Iterator[str]:
    x, y = _corner(placed)
    start_x, start_y = x + WIDTH / 2, y + HEIGHT
    for child in placed.children:
        child_x, end_y = _corner(child)
        end_x, middle = child_x + WIDTH / 2, (start_y + end_y) / 2
        kind = "filter" if child.node.operator == _COLLECTOR else "rows"
        curve = f"M{start_x},{start_y} C{start_x},{middle} {end_x},{middle} {end_x},{end_y}"
        yield f'<path class="{kind}" d="{curve}"/>'


def _box(placed: Placed, read: Mapping[str, Selection]) -> str:
    node = placed.node
    x, y = _corner(placed)
    # A tooltip as long as a page would not help.
    tooltip = f"<title>{escape(node_text(node)[:2_000])}</title>"
    frame = f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8"/>'
    title = f'<text class="title" x="12" y="23">{escape(_cut(_title(node)))}</text>'
    detail = f'<text x="12" y="41">{escape(_cut(_detail(node)))}</text>'
    inside = f"{tooltip}{frame}{title}{detail}{_share(node, read)}"
    return f'<g class="node {_kind(node.operator)}" transform="translate({x},{y})">{inside}</g>'


def _corner(placed: Placed) -> tuple[float, float]:
    return placed.column * COLUMN + 2, placed.row * ROW + 2


def _kind(operator: str) -> str:
    if operator in (_COLLECTOR, _PRUNED_SCAN):
        return "collector" if operator == _COLLECTOR else "pruned"
    if operator in ("TableSourceScan", _IN_MEMORY):
        return "scan"
    return "join" if operator.endswith("Join") else "other"


def _title(node: PlanNode) -> str:
    if node.operator == _COLLECTOR and "source" in dict(node.attributes):
        return "Keys from the cache"
    return _TITLES.get(node.operator, node.operator)


def _detail(node: PlanNode) -> str:
    """Returns what distinguishes the node from others of its kind."""
    values = dict(node.attributes)
    if "table" in values:
        return ".".join(values["table"])
    for name in ("where", "condition", "fields", "select"):
        if name in values:
            return ", ".join(values[name])
    return ", ".join(f"{name}: {', '.join(values)}" for name, values in node.attributes)


def _share(node: PlanNode, read: Mapping[str, Selection]) -> str:
    """Draws a bar of the data files that the scan read of its table."""
    table = dict(node.attributes).get("table", ())
    if node.operator == _IN_MEMORY:
        return ""
    files = read.get(".".join(table).lower())
    if files is None:
        return ""
    room = WIDTH - 24
    filled = round(room * percentage(files) / 100, 1)
    note = f"<title>{count(files.selected)} of {count(files.total)} data files</title>"
    track = f'<rect class="track" x="12" y="49" width="{room}" height="5" rx="2"/>'
    return f'<g>{note}{track}<rect class="fill" x="12" y="49" width="{filled}" height="5" rx="2"/></g>'


def _cut(text: str) -> str:
    """Returns the text on one line, cut to the width of its box.

    >>> len(_cut("a" * 100))
    31
    """
    line = " ".join(text.split())
    return line if len(line) <= MAX_CHARACTERS else line[: MAX_CHARACTERS - 1] + "…"
