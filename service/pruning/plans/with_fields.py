"""Which columns do the scans of a plan read?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from service.model.query.explanation import PlanNode
from service.model.query.scan_metrics import ScanRecord

# No one reads more names than these on a line.
MAX_FIELDS = 40
_SCANS = ("TableSourceScan", "DynamicFilteringTableSourceScan")


def with_fields(plan: PlanNode, scans: Iterable[ScanRecord]) -> PlanNode:
    """Returns the plan with the columns of each table, if all of its scans that ran read the same ones.

    >>> from service.model.query.scan_metrics import PruningMetrics, Selection
    >>> none = Selection(0, 0)
    >>> scan = ScanRecord("lake.a.t", 7, PruningMetrics(none, none, none, none, none, 0), columns=("id", "k"))
    >>> with_fields(PlanNode("TableSourceScan", (("table", ("lake", "a", "t")),)), [scan]).attributes
    (('table', ('lake', 'a', 't')), ('fields', ('id', 'k')))
    """
    found: dict[str, set[tuple[str, ...]]] = {}
    for scan in scans:
        if scan.has_run and scan.columns:
            found.setdefault(scan.table.lower(), set()).add(scan.columns)
    return _with_fields(plan, {table: min(read) for table, read in found.items() if len(read) == 1})


def _with_fields(node: PlanNode, fields: Mapping[str, tuple[str, ...]]) -> PlanNode:
    children = tuple(_with_fields(child, fields) for child in node.children)
    if node.operator not in _SCANS:
        return replace(node, children=children)
    attributes = dict(node.attributes)
    read = fields.get(".".join(attributes["table"]).lower(), ())
    if not read or "read" in attributes:
        return replace(node, children=children)
    more = (f"… {len(read) - MAX_FIELDS} more",) if len(read) > MAX_FIELDS else ()
    table, *others = node.attributes
    return replace(
        node, attributes=(table, ("fields", (*read[:MAX_FIELDS], *more)), *others), children=children
    )
