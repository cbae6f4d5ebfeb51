"""The query as it ran: which scans are filtered, by which keys, and which were skipped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from service.model.filters.dynamic_filter import Build
from service.model.filters.filter_record import FilterRecord
from service.model.filters.key_set import FilterSource
from service.model.query.explanation import PlanNode
from service.pruning.plans.build_plan import build_plan, collector, is_built_by, is_part_of
from service.pruning.plans.join_operator import ANY
from service.pruning.plans.ran_query import RanQuery

# Nothing of the build side was read for these keys.
_FOUND = (FilterSource.CACHED, FilterSource.CONTAINED)
_EQUALITY = re.compile(r"[^\W\d][\w.`]* = [^\W\d][\w.`]*")
_JOIN_TYPES = {
    "inner": "InnerJoin",
    "left": "LeftOuterJoin",
    "right": "RightOuterJoin",
    "full": "FullOuterJoin",
    "semi": "LeftSemiJoin",
    "anti": "LeftAntiJoin",
}
# Whether a condition of the WHERE may be moved to the left and to the right side of a join.
_PRESERVED_SIDES = {
    "inner": (True, True),
    "left": (True, False),
    "semi": (True, False),
    "anti": (True, False),
}
_RENAMED = {"Project": "Calc", "Aggregate": "HashAggregate", "TableScan": "TableSourceScan"}
_COMMA_JOIN = (("condition", ("true",)), ("joinType", ("inner",)))

Attributes = tuple[tuple[str, tuple[str, ...]], ...]
Lowered = tuple[PlanNode, tuple[str, ...]]


def optimized_physical_plan(plan: PlanNode, ran: RanQuery, join: str = ANY) -> PlanNode:
    """Returns the tree of the text that ran, with filtered scans over the collectors of their keys.

    A dimension that keys are collected from has the same sub-plan in the join and below the collector. Rows
    from memory are not shown as a scan, and a skipped scan says that it was not read. `join` is the operator
    of joins.
    Source: FLIP-248, `DynamicFilteringTableSourceScan`.
    """
    records = [filter_ for filters in ran.filters.values() for filter_ in filters]
    # If filters share a key set, one has collected it, and the others have found it.
    collected = frozenset(record.build for record in records if record.source not in _FOUND)
    builds = dict.fromkeys(record.build for record in records)
    return _Planner(ran, tuple(builds), collected, join).plan(plan)


@dataclass(frozen=True, slots=True)
class _Planner:
    ran: RanQuery
    builds: tuple[Build, ...]
    collected: frozenset[Build]
    join: str

    def plan(self, node: PlanNode) -> PlanNode:
        planned, _ = self._lowered(node, ())
        return planned

    def _lowered(self, node: PlanNode, conditions: tuple[str, ...]) -> Lowered:
        """Returns the node's plan with the conditions that it could take in, and the other conditions."""
        match node.operator:
            case "LogicalTableScan":
                return self._scan(node, conditions)
            case "LogicalJoin":
                return self._join(node, conditions)
            case "LogicalFilter":
                return self._filter(node), conditions
            case "LogicalProject":
                return self._project(node), conditions
            case _:
                return replace(self._renamed(node), children=self._all(node.children)), conditions

    def _all(self, nodes: Sequence[PlanNode]) -> tuple[PlanNode, ...]:
        return tuple(self.plan(node) for node in nodes)

    def _scan(self, node: PlanNode, conditions: tuple[str, ...]) -> Lowered:
        number = -1 if node.reference is None else node.reference
        relation = self.ran.relations.get(number)
        if relation is not None:
            table = ("table", tuple(relation.table.split(".")))
            attributes: Attributes = (table, ("rows", (relation.detail,)), *self._read_with(number))
            return PlanNode("LocalTableScan", attributes), conditions
        filters = self.ran.filters.get(number, ())
        unread = (("read", ("nothing",)),) if number in self.ran.unread else ()
        if filters:
            builds = dict.fromkeys(filter_.build for filter_ in filters)
            collectors = tuple(collector(build, is_cached=build not in self.collected) for build in builds)
            attributes = (*node.attributes, *self._filters(filters), *unread)
            return PlanNode("DynamicFilteringTableSourceScan", attributes, collectors), conditions
        if unread:
            return PlanNode("TableSourceScan", (*node.attributes, *unread)), conditions
        [(_, parts)] = node.attributes
        for build in self.builds:
            taken = tuple(condition for condition in conditions if is_part_of(build, condition))
            is_table = len(build.tables) == 1 and str(build.tables[0]).lower() == ".".join(parts).lower()
            if is_table and is_built_by(build, build.tables[0], taken):
                return build_plan(build), tuple(
                    condition for condition in conditions if condition not in taken
                )
        return self._renamed(node), conditions

    def _read_with(self, number: int) -> Attributes:
        """Returns the filter whose keys were collected in the same reading."""
        filter_id = self.ran.read_with.get(number)
        return () if filter_id is None else (("collectedWith", (filter_id,)),)

    def _filters(self, filters: Sequence[FilterRecord]) -> Attributes:
        """Returns the ids of the filters, and the joins that they eliminate."""
        eliminated = [
            join.table for filter_ in filters for join in self.ran.eliminated.get(filter_.filter_id, ())
        ]
        replaced = (("eliminatedJoins", tuple(eliminated)),) if eliminated else ()
        return (("filters", tuple(filter_.filter_id for filter_ in filters)), *replaced)

    def _filter(self, node: PlanNode) -> PlanNode:
        [(_, conditions)] = node.attributes
        source, *subqueries = node.children
        lowered, left = self._lowered(source, conditions)
        return PlanNode("Calc", (("where", left),), (lowered, *self._all(subqueries))) if left else lowered

    def _project(self, node: PlanNode) -> PlanNode:
        source, *subqueries = self._all(node.children)
        select = ("select", tuple(_selected(*attribute) for attribute in node.attributes))
        if source.operator == "Calc" and [name for name, _ in source.attributes] == ["where"]:
            is_build = any(source == build_plan(build) for build in self.builds)
            if not is_build:
                return PlanNode("Calc", (select, *source.attributes), (*source.children, *subqueries))
        return PlanNode("Calc", (select,), (source, *subqueries))

    def _join(self, node: PlanNode, conditions: tuple[str, ...]) -> Lowered:
        inputs, subqueries = _inputs(node)
        on, kind = node.attributes[0][1], node.attributes[1][1][0]
        own = () if on == ("true",) else on
        preserved = _PRESERVED_SIDES.get(kind, (False, False))
        lowered: list[PlanNode] = []
        for number, input_ in enumerate(inputs):
            # Every input of successive comma joins is kept; any other join has two inputs.
            may_take = own if (kind == "inner" or number == 1) else ()
            offered = (*may_take, *(conditions if preserved[min(number, 1)] else ()))
            plan, left = self._lowered(input_, offered)
            own = tuple(one for one in own if one in left or one not in may_take)
            conditions = tuple(one for one in conditions if one in left or one not in offered)
            lowered.append(plan)
        if node.attributes == _COMMA_JOIN:
            own = tuple(condition for condition in conditions if _EQUALITY.fullmatch(condition))
            conditions = tuple(condition for condition in conditions if condition not in own)
        return self._joined(kind, own, (*lowered, *self._all(subqueries))), conditions

    def _joined(self, kind: str, where: tuple[str, ...], children: tuple[PlanNode, ...]) -> PlanNode:
        name = "MultiJoin" if len(children) > 2 and kind == "inner" else self.join
        return PlanNode(name, (("joinType", (_JOIN_TYPES[kind],)), ("where", where or ("true",))), children)

    def _renamed(self, node: PlanNode) -> PlanNode:
        name = node.operator.removeprefix("Logical")
        return PlanNode(_RENAMED.get(name, name), node.attributes, node.children)


def _inputs(node: PlanNode) -> tuple[Sequence[PlanNode], Sequence[PlanNode]]:
    """Returns the inputs of a join, or of successive comma joins, whose order in the engine is not known."""
    if node.attributes != _COMMA_JOIN:
        return node.children[:2], node.children[2:]
    inputs: list[PlanNode] = []
    while node.operator == "LogicalJoin" and node.attributes == _COMMA_JOIN:
        inputs.append(node.children[1])
        node = node.children[0]
    return (node, *reversed(inputs)), ()


def _selected(name: str, values: tuple[str, ...]) -> str:
    text = ", ".join(values)
    return text if name in (text, "fields") or text.endswith(f".{name}") else f"{text} AS {name}"
