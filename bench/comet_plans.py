"""Which operators of an executed plan Comet ran, and which were left to Spark."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

_PHYSICAL = "== Physical Plan =="
_NODE = re.compile(r"(?:\*(?:\(\d+\))? ?)?([A-Za-z]\w*)")
# They hold other nodes, or only hand their rows on in another form.
_WITHOUT_WORK = frozenset(
    {
        *("AdaptiveSparkPlan", "AQEShuffleRead", "CometColumnarToRow", "CometNativeColumnarToRow"),
        *("ColumnarToRow", "CommandResult", "InputAdapter", "ReusedExchange", "ReusedSubquery"),
        *("ShuffleQueryStage", "BroadcastQueryStage", "ResultQueryStage", "TableCacheQueryStage"),
        *("Subquery", "SubqueryBroadcast", "SubqueryAdaptiveBroadcast", "CometSubqueryBroadcast"),
        *("CometSubqueryAdaptiveBroadcast", "WholeStageCodegen"),
    }
)


@dataclass(frozen=True, slots=True)
class PlanNodes:
    """The number of operators that Comet ran, and those of Spark by their names."""

    by_comet: int
    by_spark: Counter[str]

    @property
    def share(self) -> float:
        """The share of Comet's operators among all; 0 if there are none."""
        return self.by_comet / max(1, self.by_comet + self.by_spark.total())


def plan_nodes(plan_text: str) -> PlanNodes:
    """Counts the operators of the plan that ran last, each time that it is shown.

    >>> text = '''== Physical Plan ==
    ... AdaptiveSparkPlan isFinalPlan=true
    ... +- == Final Plan ==
    ...    *(1) BroadcastHashJoin [d#1], [id#2], Inner, BuildRight, false
    ...    :- *(1) CometColumnarToRow
    ...    :  +- CometIcebergNativeScan [d#1], file:/a
    ...    +- BroadcastQueryStage 0
    ...       +- BroadcastExchange HashedRelationBroadcastMode
    ...          +- LocalTableScan [id#2]
    ... +- == Initial Plan ==
    ...    BroadcastHashJoin [d#1], [id#2], Inner, BuildRight, false
    ... '''
    >>> found = plan_nodes(text)
    >>> found.share, sorted(found.by_spark)
    (0.25, ['BroadcastExchange', 'BroadcastHashJoin', 'LocalTableScan'])
    """
    names: Counter[str] = Counter()
    initial_from: int | None = None
    for line in plan_text.rpartition(_PHYSICAL)[2].splitlines():
        text = line.lstrip(" :+-")
        column = len(line) - len(text)
        if text.startswith("== Initial Plan"):
            initial_from = column
        elif initial_from is not None and (column < initial_from or text.startswith("==")):
            initial_from = None
        found = _NODE.match(text)
        if initial_from is None and found is not None:
            names[found[1]] += 1
    working = Counter({name: count for name, count in names.items() if name not in _WITHOUT_WORK})
    by_spark = Counter({name: count for name, count in working.items() if not name.startswith("Comet")})
    return PlanNodes(working.total() - by_spark.total(), by_spark)
