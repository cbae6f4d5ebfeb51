"""Picks the query whose turn it is. Who waits and who runs stays as it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from service.model.operations.resource_groups import QueryClass
from service.model.query.priority import FIRST_TO_LAST
from service.query.admission.group_node import GroupNode, K, Ticket
from service.query.admission.service_times import ServiceTimes


def next_to_run(
    top: GroupNode[K],
    query_class: QueryClass,
    running: Iterable[Ticket[K]],
    times: ServiceTimes,
    now_ms: int,
) -> Ticket[K] | None:
    """Returns the waiting query of this class that goes next; None if limits let none run.

    From the top down, the sub-group with the least virtual time goes first, of those that may run a query.
    In a group without sub-groups it is the query that came first.
    """
    spent = _spent_ms(running, query_class, times, now_ms)
    return _next_in(top, query_class, spent, now_ms)


def next_to_plan(leaves: Iterable[GroupNode[K]], planned_ahead: int, now_ms: int) -> Ticket[K] | None:
    """Returns the query that is planned next; None if none may be.

    The group with the fewest queries in planning goes first; among equals, the one whose last turn is longest
    ago. A group in which so many planned queries of its priority or a higher one wait has to run some first,
    and one without budget waits.
    """
    ready = [leaf for leaf in leaves if _may_plan(leaf, planned_ahead, now_ms)]
    leaf = min(ready, key=lambda one: (one.planning, one.planned_at), default=None)
    return None if leaf is None else next(iter(leaf.unplanned.values()))


def note_turn(ticket: Ticket[K], running: Iterable[Ticket[K]], times: ServiceTimes, now_ms: int) -> None:
    """Moves the virtual time of each level on to that of the query whose turn has come."""
    spent = _spent_ms(running, ticket.query_class, times, now_ms)
    for node in ticket.leaf.upward():
        if node.parent is not None:
            share = node.shares[ticket.query_class]
            share.contend(node.parent.turns_at[ticket.query_class])
            at = share.tag(spent.get(node, 0.0))
            turns_at = node.parent.turns_at
            turns_at[ticket.query_class] = max(turns_at[ticket.query_class], at)


def _may_plan(leaf: GroupNode[K], planned_ahead: int, now_ms: int) -> bool:
    priority = next(iter(leaf.unplanned.values())).priority
    # Those that it goes before do not count, or it would have to wait for them.
    ahead = sum(leaf.planned_ahead[of] for of in FIRST_TO_LAST[: FIRST_TO_LAST.index(priority) + 1])
    return ahead < planned_ahead and not any(node.is_exhausted(now_ms) for node in leaf.upward())


def _spent_ms(
    running: Iterable[Ticket[K]], query_class: QueryClass, times: ServiceTimes, now_ms: int
) -> Mapping[GroupNode[K], float]:
    """Returns by group how long its running queries will have run: at least as long as others did."""
    expected_ms = times.expected_ms(query_class)
    spent: dict[GroupNode[K], float] = defaultdict(float)
    for ticket in running:
        if ticket.query_class is query_class:
            for node in ticket.leaf.upward():
                spent[node] += max(expected_ms, now_ms - ticket.started_ms)
    return spent


def _next_in(
    node: GroupNode[K], query_class: QueryClass, spent: Mapping[GroupNode[K], float], now_ms: int
) -> Ticket[K] | None:
    if not node.may_run(query_class, now_ms):
        return None
    if node.lines[query_class]:
        return next(iter(node.lines[query_class].values()))
    for child in _in_turn(node, query_class, spent, now_ms):
        found = _next_in(child, query_class, spent, now_ms)
        if found is not None:
            return found
        child.shares[query_class].leave()
    return None


def _in_turn(
    node: GroupNode[K], query_class: QueryClass, spent: Mapping[GroupNode[K], float], now_ms: int
) -> list[GroupNode[K]]:
    """Returns the sub-groups that may run one more, by their virtual time."""
    able: list[GroupNode[K]] = []
    for child in node.contending[query_class]:
        share = child.shares[query_class]
        if child.may_run(query_class, now_ms):
            share.contend(node.turns_at[query_class])
            able.append(child)
        else:
            # While its own limit holds it back, it saves up no turns.
            share.leave()
    return sorted(able, key=lambda child: child.shares[query_class].tag(spent.get(child, 0.0)))
