"""A plan as indented text."""

from __future__ import annotations

from collections.abc import Iterator

from service.model.query.explanation import PlanNode

_CONDITIONS = ("condition", "where")


def plan_text(plan: PlanNode) -> str:
    """Returns one line for each node, with its children below it, as Flink's EXPLAIN draws them.

    >>> scan = PlanNode("TableSourceScan", (("table", ("lake", "s", "t")),))
    >>> print(plan_text(PlanNode("Calc", (("where", ("a = 1", "b = 2")),), (scan,))))
    Calc(where=[AND(a = 1, b = 2)])
    +- TableSourceScan(table=[[lake, s, t]])
    """
    return "\n".join(_lines(plan, "", ""))


def node_text(node: PlanNode) -> str:
    """Returns the line of one node.

    >>> node_text(PlanNode("Sort", (("orderBy", ("a",)),), reuse_id=1))
    'Sort(orderBy=[a])(reuse_id=[1])'
    """
    attributes = ", ".join(f"{name}=[{_value(name, values)}]" for name, values in node.attributes)
    reuse = "" if node.reuse_id is None else f"(reuse_id=[{node.reuse_id}])"
    # A plan has one line for each node, whatever line breaks the user's text has.
    return " ".join(f"{node.operator}({attributes}){reuse}".split())


def _lines(node: PlanNode, first: str, rest: str) -> Iterator[str]:
    yield first + node_text(node)
    for child in node.children[:-1]:
        yield from _lines(child, f"{rest}:- ", f"{rest}:  ")
    for child in node.children[-1:]:
        yield from _lines(child, f"{rest}+- ", f"{rest}   ")


def _value(name: str, values: tuple[str, ...]) -> str:
    text = ", ".join(values)
    if name == "table":
        return f"[{text}]"
    return f"AND({text})" if name in _CONDITIONS and len(values) > 1 else text
