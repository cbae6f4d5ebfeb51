"""Authenticates again while a request lasts, so that none outlives the credentials that it came with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from api.http.problems.problems import problem_response
from api.http.waiting import AnswerCutOff
from service.errors.credential_errors import CredentialFault, CredentialRefused
from service.errors.gateway_error import GatewayError
from service.ports.clock import Clock

Check = Callable[[], Awaitable[GatewayError | None]]
"""Authenticates again. None: the request is still its caller's."""
_log = structlog.stdlib.get_logger("api.authentication")


class LongRequest:
    """Wraps `receive` and `send` of one request, and checks it again every `every_s` in which it moves.

    A body that is still arriving, and an answer that has not begun, end with the problem that a new request
    would have. An answer that has begun is cut off. Credentials that expire while the answer is made do not
    count until it has begun: the request came in time.
    """

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, *, check: Check, clock: Clock, every_s: float
    ) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._check = check
        self._clock = clock
        self._every_ms = every_s * 1000
        self._checked_ms = clock.elapsed_ms()
        self._has_begun = False
        self._is_read = False
        self._refusal: GatewayError | None = None
        self._is_answered = False

    async def receive(self) -> Message:
        """Returns the next part of the body, or that the client is gone.

        Raises:
            HTTPException: the credentials are no longer accepted.
        """
        message = await self._receive()
        if self._is_read or message["type"] != "http.request":
            return message
        self._is_read = not message.get("more_body", False)
        self._refusal = await self._refused()
        if self._refusal is not None:
            # The only exception that FastAPI passes on while it reads a body.
            raise HTTPException(401)
        return message

    async def send(self, message: Message) -> None:
        """Sends the next part of the answer.

        Raises:
            AnswerCutOff: the credentials are no longer accepted, and the answer has begun.
        """
        if self._is_answered:
            return
        refusal = self._refusal or await self._refused()
        if refusal is None:
            self._has_begun = True
            await self._send(message)
        elif self._has_begun:
            _log.warning("answer_cut_off", code=refusal.code, detail=refusal.detail)
            raise AnswerCutOff from refusal
        else:
            self._is_answered = True
            await problem_response(refusal, self._scope["path"])(self._scope, self._receive, self._send)

    async def _refused(self) -> GatewayError | None:
        now_ms = self._clock.elapsed_ms()
        if now_ms - self._checked_ms < self._every_ms:
            return None
        self._checked_ms = now_ms
        found = await self._check()
        is_late = isinstance(found, CredentialRefused) and found.reason is CredentialFault.EXPIRED
        return None if is_late and not self._has_begun else found
