"""The plan as nested lists, for screens that are too small for its picture."""

from __future__ import annotations

from collections.abc import Callable

from api.http.explain.explain_html.names import breakable
from service.model.query.explanation import PlanNode

Described = Callable[[PlanNode], tuple[str, str, str]]
"""Returns a node's kind, its title, and what distinguishes it from others of its kind."""


def plan_outline(plan: PlanNode, described: Described) -> str:
    """Lists each operator above its inputs; several inputs are indented."""
    return f'<ul class="outline">{_items(plan, described, is_one_of_several=False)}</ul>'


def _items(node: PlanNode, described: Described, *, is_one_of_several: bool) -> str:
    kind, title, detail = described(node)
    shown = f"<small>{breakable(detail)}</small>" if detail else ""
    item = f'<li class="{kind}"><b>{title}</b>{shown}</li>'
    are_several = len(node.children) > 1
    below = "".join(_items(child, described, is_one_of_several=are_several) for child in node.children)
    # Without nesting, a chain below one of several inputs would look like more of them.
    is_nested = bool(below) and (are_several or is_one_of_several)
    return f"{item}<li><ul>{below}</ul></li>" if is_nested else f"{item}{below}"
