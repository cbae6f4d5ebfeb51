"""Is a plan too deep for people to read, and for Python to descend by recursion?"""

from __future__ import annotations

from service.model.query.explanation import PlanNode

MAX_DEPTH = 150


def is_deep(plan: PlanNode, max_depth: int = MAX_DEPTH) -> bool:
    """Whether a node has more than `max_depth` nodes above it; found without recursion.

    >>> is_deep(PlanNode("a", (), (PlanNode("b"),)), max_depth=1)
    False
    >>> is_deep(PlanNode("a", (), (PlanNode("b"),)), max_depth=0)
    True
    """
    level, depth = [plan], 0
    while level := [child for node in level for child in node.children]:
        depth += 1
        if depth > max_depth:
            return True
    return False
