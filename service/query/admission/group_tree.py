"""The tree of groups in force; groups of single callers come and go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic

from service.model.operations.resource_groups import USER, GroupPath, ResourceGroup, ResourceGroups
from service.query.admission.group_node import GroupNode, K
from service.query.admission.select_group import expanded

MAX_IDLE_GROUPS = 10_000
"""Groups of callers without queries are kept for their budgets and shares, up to this number."""


class GroupTree(Generic[K]):
    """Finds the group of a query, and makes it at its caller's first query.

    `top` stands for the whole gateway. Groups with queries are as many as there are open queries at most;
    of the others, those that were idle for longest are forgotten beyond `max_idle`.
    """

    def __init__(self, groups: ResourceGroups, whole: ResourceGroup, max_idle: int = MAX_IDLE_GROUPS) -> None:
        self._groups = groups
        self._specs = dict(groups.walk())
        self._max_idle = max_idle
        self._idle: dict[GroupNode[K], None] = {}
        self.top: GroupNode[K] = GroupNode(whole, groups)

    def leaf(self, configured: GroupPath, caller: str) -> GroupNode[K]:
        """Returns the group in force for this caller's queries."""
        node = self.top
        for depth, name in enumerate(expanded(configured, caller), start=1):
            of = configured[:depth]
            found = node.children.get((of[-1], name))
            if found is None:
                found = GroupNode(self._specs[of], self._groups, (*node.path, name), of, node)
                node.children[of[-1], name] = found
            node = found
        self._idle.pop(node, None)
        return node

    def ended(self, leaf: GroupNode[K]) -> None:
        """Notes that a query of the group has ended or left."""
        if leaf.open or not _is_of_caller(leaf):
            return
        self._idle[leaf] = None
        while len(self._idle) > self._max_idle:
            oldest = next(iter(self._idle))
            del self._idle[oldest]
            _forget(oldest)

    def walk(self) -> Iterator[GroupNode[K]]:
        """Yields every group in force, without the top."""
        nodes = list(self.top.children.values())
        while nodes:
            node = nodes.pop()
            yield node
            nodes += node.children.values()


def _is_of_caller(node: GroupNode[K]) -> bool:
    return any(USER in name for name in node.configured)


def _forget(node: GroupNode[K]) -> None:
    while node.parent is not None and _is_of_caller(node) and not node.children and not node.open:
        del node.parent.children[node.configured[-1], node.path[-1]]
        node = node.parent
