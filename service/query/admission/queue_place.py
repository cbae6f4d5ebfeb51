"""Tells where a query waits, and for how long it is expected to."""

from __future__ import annotations

from collections.abc import Iterable

from service.model.operations.resource_groups import QueryClass
from service.model.query.progress import QueuePlace
from service.query.admission.group_node import GroupNode, K, Stage, Ticket
from service.query.admission.service_times import ServiceTimes


def queue_place(
    ticket: Ticket[K], running: Iterable[Ticket[K]], times: ServiceTimes, now_ms: int
) -> QueuePlace | None:
    """Returns the place of a query that waits; None if it runs or has ended.

    The position counts the queries that are expected to go before it: those of its own group that came
    earlier, and of each other group as many as its weight entitles it to until then. A query that is not
    planned yet counts as a long one.
    """
    if ticket.stage in (Stage.RUNNING, Stage.ENDED):
        return None
    if ticket.stage is Stage.PLANNING:
        return QueuePlace(0, 0, ticket.leaf.name)
    mean_ms = _mean_ms(ticket.query_class, running, times, now_ms)
    ahead, waits_ms = _ahead_in(ticket), [0.0]
    node = ticket.leaf
    while True:
        if mean_ms is not None:
            waits_ms.append(_wait_ms(node, ticket.query_class, ahead, mean_ms))
        waits_ms.append(node.quota_wait_ms(now_ms))
        if node.parent is None:
            break
        ahead = _ahead_around(node, ticket.query_class, ahead)
        node = node.parent
    is_known = mean_ms is not None or ticket.leaf.running_count == 0
    return QueuePlace(ahead + 1, round(max(waits_ms)) if is_known else None, ticket.leaf.name)


def _ahead_in(ticket: Ticket[K]) -> int:
    leaf, of = ticket.leaf, ticket.query_class
    waiting = [leaf.lines[of]] if of is QueryClass.SHORT else [leaf.lines[of], leaf.unplanned]
    return sum(number < ticket.number for line in waiting for number in line)


def _ahead_around(node: GroupNode[K], of: QueryClass, ahead: int) -> int:
    """Returns how many go first in the group around, of which `ahead` are in the node itself."""
    assert node.parent is not None
    own, total, is_earlier = node.shares[of], ahead, True
    for sibling in node.parent.children.values():
        if sibling is node:
            is_earlier = False
            continue
        share = sibling.shares[of]
        goes_first = share.base < own.base or (is_earlier and share.base == own.base)
        total += min(_waiting(sibling, of), ahead * share.weight // own.weight + goes_first)
    return total


def _waiting(node: GroupNode[K], of: QueryClass) -> int:
    return node.waiting[of] + (node.unplanned_count if of is QueryClass.LONG else 0)


def _wait_ms(node: GroupNode[K], of: QueryClass, ahead: int, mean_ms: float) -> float:
    """Returns how long it takes until the group has begun `ahead` queries and one more."""
    places = node.spec.concurrency_limit(of)
    used = node.running[of] if of is QueryClass.LONG else node.running_count
    turns = ahead + 1 - max(0, places - used)
    return max(0, turns) * mean_ms / max(places, 1)


def _mean_ms(of: QueryClass, running: Iterable[Ticket[K]], times: ServiceTimes, now_ms: int) -> float | None:
    """Returns how long queries run; before any has ended, how long those that run have run by now."""
    mean_ms = times.mean_ms(of)
    if mean_ms is not None:
        return mean_ms
    elapsed = [now_ms - ticket.started_ms for ticket in running if ticket.query_class is of]
    return sum(elapsed) / len(elapsed) if elapsed else None
