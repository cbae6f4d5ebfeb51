"""Where the nodes of a plan stand in its picture: the root at the left, what it reads to the right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from service.model.explanation import PlanNode


@dataclass(frozen=True, slots=True)
class Placed:
    """A node at its place: `column` counts from the root; `row` may be between two rows."""

    node: PlanNode
    column: int
    row: float
    children: tuple[Placed, ...] = ()

    def walk(self) -> Iterator[Placed]:
        """This one and all below it."""
        yield self
        for each in self.children:
            yield from each.walk()


def plan_layout(plan: PlanNode) -> Placed:
    """Leaves in rows of their own, every other node in the middle of its children.

    >>> placed = plan_layout(PlanNode("Join", (), (PlanNode("a"), PlanNode("b"))))
    >>> placed.row, [(each.column, each.row) for each in placed.children]
    (0.5, [(1, 0), (1, 1)])
    """
    return _Rows().place(plan, 0)


@dataclass(slots=True)
class _Rows:
    _next: Iterator[int] = field(default_factory=lambda: iter(range(1_000_000)))

    def place(self, node: PlanNode, column: int) -> Placed:
        if not node.children:
            return Placed(node, column, next(self._next))
        children = tuple(self.place(each, column + 1) for each in node.children)
        return Placed(node, column, (children[0].row + children[-1].row) / 2, children)
