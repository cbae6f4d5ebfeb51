"""The engine's join operator, in the terms of a plan."""

from __future__ import annotations

import re

ANY = "Join"
_JOINS = re.compile(
    r"\b(BroadcastHashJoin|ShuffledHashJoin|SortMergeJoin|BroadcastNestedLoopJoin|CartesianProduct)\b"
)
_NAMES = {
    "BroadcastHashJoin": "HashJoin",
    "ShuffledHashJoin": "HashJoin",
    "SortMergeJoin": "SortMergeJoin",
    "BroadcastNestedLoopJoin": "NestedLoopJoin",
    "CartesianProduct": "NestedLoopJoin",
}
_PLAN, _FINAL, _INITIAL = "== Physical Plan ==", "== Final Plan ==", "== Initial Plan =="


def join_operator(spark_plan: str) -> str:
    r"""Returns the operator of all joins in the engine's plan; `Join` when they differ, or none is left.

    The plan does not say which of its joins is which join of the text.

    >>> join_operator("== Physical Plan ==\n*(2) SortMergeJoin [k#1], [k#2], Inner")
    'SortMergeJoin'
    >>> join_operator("== Physical Plan ==\n+- BroadcastHashJoin\n   +- SortMergeJoin")
    'Join'
    """
    physical = spark_plan.partition(_PLAN)[2]
    ran = physical.partition(_FINAL)[2].partition(_INITIAL)[0] or physical
    kinds = {_NAMES[operator] for operator in _JOINS.findall(ran)}
    return kinds.pop() if len(kinds) == 1 else ANY
