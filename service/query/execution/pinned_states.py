"""The states of the tables that a rewritten text reads."""

from __future__ import annotations

from collections.abc import Mapping

from service.model.query.query import Parameters, by_name
from service.query.filtering.pruned_query import PrunedQuery
from service.query.reuse.names_a_moment import names_a_moment
from service.query.reuse.table_states import table_state


def pinned_states(pruned: PrunedQuery, written: str, parameters: Parameters = ()) -> Mapping[str, str]:
    """Returns the state of each table that a rewritten text was made from, by its full name in lower case.

    `written` is the text without its rewrites, with these values. It is empty if either may depend on the
    moment, and if the state of one of the tables is not known.
    """
    values = (each.value for each in by_name(parameters).values() if isinstance(each.value, str))
    # Keys that are part of the rewritten text name no moment, whatever their words are.
    texts = [pruned.expanded_sql or written, *(f"TIMESTAMP'{value}'" for value in values)]
    if any(map(names_a_moment, texts)):
        return {}
    found: dict[str, str] = {}
    for facts in pruned.facts:
        name, state = str(facts.name.in_lower_case()), table_state(facts)
        # Two tables whose names differ only in their case cannot be distinguished here.
        if state is None or found.setdefault(name, state) != state:
            return {}
    return found
