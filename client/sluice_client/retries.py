"""Sends a request again where that has no second effect: bounded in number and time."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from sluice_client.calls import Answer, Flow, Request, pause, send
from sluice_client.errors import ConnectionFailed, GatewayError, SluiceError, UnexpectedAnswer
from sluice_client.problems import failure_of, retry_after_s
from sluice_client.settings import Bounds, RetryPolicy, Timeouts

_NOT_BEGUN = frozenset({408, 429, 503})
"""Statuses by which a gateway says that it has not begun the request."""
_FROM_PROXIES = frozenset({502, 503, 504})
_USELESS = frozenset({"TOO_MANY_FAILURES"})
"""Codes of these statuses after which the same request cannot succeed."""
_STARTS_AGAIN = frozenset({"REPLICA_LOST"})
"""Codes of accepted queries that a gateway runs again under the same `requestId`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The settings that all flows of a connection share."""

    base_url: str
    retries: RetryPolicy
    timeouts: Timeouts
    bounds: Bounds
    now: Callable[[], float]
    """Seconds, monotonic."""
    jitter: Callable[[], float] = random.random
    """From 0 to 1."""


def retried(request: Request, context: Context, request_id: UUID | None = None) -> Flow[Answer]:
    """Sends a request until it succeeds, or until the policy's end.

    Raises:
        SluiceError: the last failure.
    """
    deadline = context.now() + context.retries.total_s
    attempt = 1
    while True:
        try:
            answer = yield from send(request)
        except ConnectionFailed as lost:
            failure: SluiceError = lost
            asked_s = 0.0
        else:
            found = failure_of(answer, context.base_url, request_id)
            if found is None:
                return answer
            failure, asked_s = found, retry_after_s(answer) or 0.0
        delay_s = max(asked_s, _delay_s(attempt, context))
        if not _is_worth_it(request, failure, attempt, context) or context.now() + delay_s > deadline:
            raise failure
        yield from pause(delay_s)
        attempt += 1


def _is_worth_it(request: Request, failure: SluiceError, attempt: int, context: Context) -> bool:
    if attempt >= context.retries.attempts or not is_transient(failure, is_repeatable=request.is_repeatable):
        return False
    return request.body is None or request.body.can_open()


def is_transient(failure: SluiceError, *, is_repeatable: bool) -> bool:
    """Whether the same request may succeed later, and is safe to send again."""
    match failure:
        case ConnectionFailed():
            return is_repeatable or not failure.was_sent
        case UnexpectedAnswer():
            return is_repeatable and failure.status in _FROM_PROXIES
        case GatewayError():
            return _may_pass(failure, is_repeatable)
        case _:
            return False


def _may_pass(failure: GatewayError, is_repeatable: bool) -> bool:
    if failure.code in _STARTS_AGAIN:
        return is_repeatable
    # With an id, the gateway accepted the request: the same `requestId` leads to the same failure.
    is_accepted = failure.query_id is not None or failure.ingest_id is not None
    return failure.status in _NOT_BEGUN and not is_accepted and failure.code not in _USELESS


def _delay_s(attempt: int, context: Context) -> float:
    policy = context.retries
    longest = min(policy.max_delay_s, policy.first_delay_s * 2.0 ** min(attempt - 1, 30))
    return longest * (0.5 + context.jitter() / 2)
