"""The positions of a plan's nodes in its picture: the root on top, its inputs below."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from service.model.query.explanation import PlanNode


@dataclass(frozen=True, slots=True)
class Placed:
    """A node and its position. `row` counts from the root; `column` may be between two columns."""

    node: PlanNode
    row: int
    column: float
    children: tuple[Placed, ...] = ()

    def walk(self) -> Iterator[Placed]:
        """Yields this node and all nodes below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def plan_layout(plan: PlanNode) -> Placed:
    """Places leaves in columns of their own, and every other node in the middle of its children.

    >>> placed = plan_layout(PlanNode("Join", (), (PlanNode("a"), PlanNode("b"))))
    >>> placed.column, [(child.row, child.column) for child in placed.children]
    (0.5, [(1, 0), (1, 1)])
    """
    return _Columns().place(plan, 0)


@dataclass(slots=True)
class _Columns:
    _next: Iterator[int] = field(default_factory=lambda: iter(range(1_000_000)))

    def place(self, node: PlanNode, row: int) -> Placed:
        if not node.children:
            return Placed(node, row, next(self._next))
        children = tuple(self.place(child, row + 1) for child in node.children)
        return Placed(node, row, (children[0].column + children[-1].column) / 2, children)
