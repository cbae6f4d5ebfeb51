"""The physical plan with repeated sub-plans shown once: `reuse_id` and `Reused`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from service.model.query.explanation import PlanNode

_COLLECTOR = "DynamicFilteringDataCollector"


def optimized_execution_plan(plan: PlanNode) -> PlanNode:
    """Gives collectors and build sides that occur several times an id, and refers to it afterwards.

    All occurrences of such a sub-plan are read at one snapshot and yield the same rows.
    Source: FLIP-248, "Optimized Execution Plan".
    """
    return _Reuse(_shared(plan)).plan(plan, 1)


def _shared(plan: PlanNode) -> dict[PlanNode, int]:
    candidates = {
        child for node in _walk(plan) if node.operator == _COLLECTOR for child in (node, *node.children)
    }
    counted = Counter(node for node in _walk(plan) if node in candidates)
    return {node: count for node, count in counted.items() if count > 1}


def _walk(plan: PlanNode) -> Iterator[PlanNode]:
    yield plan
    for child in plan.children:
        yield from _walk(child)


@dataclass(frozen=True, slots=True)
class _Reuse:
    shared: dict[PlanNode, int]
    ids: dict[PlanNode, int] = field(default_factory=dict)

    def plan(self, node: PlanNode, uses_above: int) -> PlanNode:
        """Returns the plan of a node. `uses_above`: how often a node above occurs; its parts need no ids."""
        uses = self.shared.get(node, 1)
        if node in self.ids:
            return PlanNode("Reused", (("reference_id", (str(self.ids[node]),)),))
        if uses > uses_above:
            self.ids[node] = len(self.ids) + 1
        below = max(uses, uses_above)
        children = tuple(self.plan(child, below) for child in node.children)
        name = node.operator.replace("DynamicFilteringTableSourceScan", "TableSourceScan")
        return replace(node, operator=name, children=children, reuse_id=self.ids.get(node))
