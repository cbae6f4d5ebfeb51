"""The tables of a query as its principal sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from service.model.policies.actions import Action
from service.model.policies.decisions import Access, Allowed, Decision
from service.model.tables.tables import TableAt, TableFacts, TableName


def seen_tables(facts: Mapping[TableAt, TableFacts], access: Access) -> Mapping[TableAt, TableFacts]:
    """Returns the tables that the principal may read, each with its restriction.

    A query that names others runs as written, and the engine refuses it.
    """
    decided = {table_at: access.decide(Action.SELECT, fact.name) for table_at, fact in facts.items()}
    return {
        table_at: replace(facts[table_at], restriction=decision.restriction)
        if decision.restriction.is_any
        else facts[table_at]
        for table_at, decision in decided.items()
        if isinstance(decision, Allowed)
    }


def may_expand(views: Iterable[TableName], access: Access) -> bool:
    """Whether the views may be replaced by their texts.

    Otherwise the engine guards the views of the query as written, or refuses it.
    """
    return all(
        _is_as_written(access.decide(Action.SELECT, view)) and access.definer_of(view) is None
        for view in views
    )


def _is_as_written(decision: Decision) -> bool:
    return isinstance(decision, Allowed) and not decision.restriction.is_any
