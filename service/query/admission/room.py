"""Refuses a query when its group, or one around it, has no room for it."""

from __future__ import annotations

import math

from service.errors.query_errors import QuotaExhausted, TooManyQueries
from service.model.operations.resource_groups import QueryClass
from service.query.admission.group_node import GroupNode, K
from service.query.admission.service_times import ServiceTimes

MAX_RETRY_AFTER_S = 3_600
"""For a full queue, which is only estimated; the end of a used-up budget is known exactly."""


def check_room(leaf: GroupNode[K], times: ServiceTimes, now_ms: int) -> None:
    """Checks that one more query fits: the group may hold `maxQueued` beside those that may run.

    A caller cannot shut others out by filling the gateway's own queue: each group without a query may have
    one more in it, up to twice its bound.

    Raises:
        QuotaExhausted: a budget is used up, and its group refuses queries then.
        TooManyQueries: the queue of a group is full.
    """
    for node in leaf.upward():
        if node.refuses(now_ms):
            raise QuotaExhausted(node.name, _seconds(node.quota_wait_ms(now_ms)))
    for node in leaf.upward():
        if not _has_room(node, leaf):
            raise TooManyQueries(_too_many(node), _retry_after_s(node, times, now_ms))


def _has_room(node: GroupNode[K], leaf: GroupNode[K]) -> bool:
    room = node.spec.max_queued + node.spec.hard_concurrency_limit
    if node.parent is None and not leaf.open:
        room += node.spec.max_queued
    return node.open < room


def _too_many(node: GroupNode[K]) -> str | None:
    if node.parent is None:
        return None
    return f"Too many queries of the resource group {node.name} are waiting. Try again later."


def _retry_after_s(node: GroupNode[K], times: ServiceTimes, now_ms: int) -> int:
    """Returns when a place is expected: one more query has begun by then."""
    mean_ms = times.mean_ms(QueryClass.LONG) or times.mean_ms(QueryClass.SHORT) or 0
    places = node.spec.concurrency_limit(QueryClass.LONG)
    estimated_s = min(_seconds(round(mean_ms / max(places, 1))), MAX_RETRY_AFTER_S)
    return max(estimated_s, *(_seconds(one.quota_wait_ms(now_ms)) for one in node.upward()), 1)


def _seconds(milliseconds: int) -> int:
    return math.ceil(milliseconds / 1000)
