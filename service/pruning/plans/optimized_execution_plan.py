"""The physical plan with what stands in it more than once made one: `reuse_id` and `Reused`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from service.model.query.explanation import PlanNode

_COLLECTOR = "DynamicFilteringDataCollector"


def optimized_execution_plan(plan: PlanNode) -> PlanNode:
    """Collectors and build sides that stand in several places are named where they stand first.

    Wherever such a sub-plan stands, it is read at one snapshot and yields the same rows.
    Source: FLIP-248, "Optimized Execution Plan".
    """
    return _Reuse(_shared(plan)).plan(plan, 1)


def _shared(plan: PlanNode) -> dict[PlanNode, int]:
    candidates = {
        each for node in _walk(plan) if node.operator == _COLLECTOR for each in (node, *node.children)
    }
    counted = Counter(node for node in _walk(plan) if node in candidates)
    return {node: count for node, count in counted.items() if count > 1}


def _walk(plan: PlanNode) -> Iterator[PlanNode]:
    yield plan
    for each in plan.children:
        yield from _walk(each)


@dataclass(frozen=True, slots=True)
class _Reuse:
    shared: dict[PlanNode, int]
    ids: dict[PlanNode, int] = field(default_factory=dict)

    def plan(self, node: PlanNode, uses_above: int) -> PlanNode:
        """`uses_above`: in how many places what is named above stands; its parts need no names."""
        uses = self.shared.get(node, 1)
        if node in self.ids:
            return PlanNode("Reused", (("reference_id", (str(self.ids[node]),)),))
        if uses > uses_above:
            self.ids[node] = len(self.ids) + 1
        below = max(uses, uses_above)
        children = tuple(self.plan(each, below) for each in node.children)
        name = node.operator.replace("DynamicFilteringTableSourceScan", "TableSourceScan")
        return replace(node, operator=name, children=children, reuse_id=self.ids.get(node))
