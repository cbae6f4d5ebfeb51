"""Where the nodes of a plan stand in its picture: the root at the top, what it reads below it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from service.model.query.explanation import PlanNode


@dataclass(frozen=True, slots=True)
class Placed:
    """A node at its place: `row` counts from the root; `column` may be between two columns."""

    node: PlanNode
    row: int
    column: float
    children: tuple[Placed, ...] = ()

    def walk(self) -> Iterator[Placed]:
        """This one and all below it."""
        yield self
        for each in self.children:
            yield from each.walk()


def plan_layout(plan: PlanNode) -> Placed:
    """Leaves in columns of their own, every other node in the middle of its children.

    >>> placed = plan_layout(PlanNode("Join", (), (PlanNode("a"), PlanNode("b"))))
    >>> placed.column, [(each.row, each.column) for each in placed.children]
    (0.5, [(1, 0), (1, 1)])
    """
    return _Columns().place(plan, 0)


@dataclass(slots=True)
class _Columns:
    _next: Iterator[int] = field(default_factory=lambda: iter(range(1_000_000)))

    def place(self, node: PlanNode, row: int) -> Placed:
        if not node.children:
            return Placed(node, row, next(self._next))
        children = tuple(self.place(each, row + 1) for each in node.children)
        return Placed(node, row, (children[0].column + children[-1].column) / 2, children)
