"""The three plans of an explanation as text."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.query.explanation import QueryPlans
from service.pruning.plans.plan_text import plan_text

NO_PLAN = "(none: the text is not one query that the gateway can read)"


@dataclass(frozen=True, slots=True)
class PlanTexts:
    """The three parts of FLIP-248."""

    abstract_syntax_tree: str
    optimized_physical: str
    optimized_execution: str


def plan_texts(plans: QueryPlans | None) -> PlanTexts:
    """Returns each plan as indented text, or a sentence where there is none.

    >>> plan_texts(None).optimized_physical
    '(none: the text is not one query that the gateway can read)'
    """
    if plans is None:
        return PlanTexts(NO_PLAN, NO_PLAN, NO_PLAN)
    return PlanTexts(
        plan_text(plans.abstract_syntax_tree),
        plan_text(plans.optimized_physical),
        plan_text(plans.optimized_execution),
    )
