"""The state of the gateway's parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sluice_client.calls import Flow, Request, send
from sluice_client.errors import UnexpectedAnswer
from sluice_client.json_fields import Fields, fields_of
from sluice_client.problems import failure_of
from sluice_client.retries import Context


@dataclass(frozen=True, slots=True)
class Part:
    """One part, such as the engine. `state` is `UP`, `STARTING` or `DOWN`."""

    name: str
    state: str
    detail: str


@dataclass(frozen=True, slots=True)
class GatewayState:
    """Whether queries can be answered, and the state of every part."""

    is_ready: bool
    status: str
    parts: tuple[Part, ...]
    raw: dict[str, Any]


def gateway_state(context: Context) -> Flow[GatewayState]:
    """Returns the state now. It is asked once: a gateway that is not ready says so at once.

    Raises:
        ConnectionFailed: there is no gateway.
        UnexpectedAnswer: the answer is not from a gateway.
    """
    answer = yield from send(Request(method="GET", path="/readyz", max_bytes=context.bounds.max_answer_bytes))
    if answer.status not in (200, 503) or answer.media_type != "application/json":
        raise failure_of(answer, context.base_url) or UnexpectedAnswer(
            "the answer is not from a gateway", status=answer.status
        )
    fields = fields_of(answer)
    parts = fields.object("parts").raw()
    return GatewayState(
        is_ready=answer.status == 200,
        status=fields.text("status"),
        parts=tuple(_part(name, Fields(value)) for name, value in parts.items()),
        raw=dict(fields.raw()),
    )


def _part(name: str, fields: Fields) -> Part:
    return Part(name, fields.text("state"), fields.optional_text("detail") or "")
