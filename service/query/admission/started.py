"""A query that runs from now on."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.operations.resource_groups import GroupPath, QueryClass
from service.query.admission.group_node import K, Ticket


@dataclass(frozen=True, slots=True)
class Started:
    """How a query was started. `group` is the path of its group's configuration."""

    query_class: QueryClass
    group: GroupPath
    waited_ms: int


def started(ticket: Ticket[K]) -> Started:
    """Returns how a query that runs was started."""
    waited_ms = ticket.started_ms - ticket.came_ms
    return Started(ticket.query_class, ticket.leaf.configured, waited_ms)
