"""Authenticates, and counts, notes and slows down what fails: the same for every protocol."""

from __future__ import annotations

from collections.abc import Callable

import structlog

from api.http.authentication.authenticator import Authenticator, Sent
from api.http.middleware.authentication_metrics import AuthenticationMetrics
from service.errors.credential_errors import CredentialFault, CredentialRefused, TooManyFailures
from service.errors.gateway_error import GatewayError
from service.model.authentication.principals import Principal

NoteFailure = Callable[[Sent, CredentialRefused], None]
"""Gets each failure, with the error that says why."""
_log = structlog.stdlib.get_logger("api.authentication")


class Logins:
    """Finds the principals of requests and connections.

    A request without credentials is not a guess, and does not count towards the bound on failures. Its
    methods must be called on the event loop's thread.
    """

    def __init__(
        self,
        authenticator: Authenticator,
        metrics: AuthenticationMetrics,
        note_failure: NoteFailure | None = None,
    ) -> None:
        self._authenticator = authenticator
        self._metrics = metrics
        self._note_failure = note_failure

    @property
    def is_open(self) -> bool:
        """Whether every caller is anonymous, because the operator has enabled no way to authenticate."""
        return self._authenticator.is_open

    @property
    def takes_sessions(self) -> bool:
        """Whether a session in a cookie can say who calls. Otherwise, the cookie counts as none."""
        return self._authenticator.takes_sessions

    async def principal(self, sent: Sent) -> Principal:
        """Returns the principal who sent these credentials.

        Raises:
            CredentialRefused: there are no credentials, or they are not accepted.
            TooManyFailures: they are not accepted, like too many others of this address or key before.
            PartDown: the store of keys, or the issuer, does not answer.
        """
        try:
            principal = await self._authenticator.principal(sent)
        except CredentialRefused as error:
            raise self.refused(error, sent) from None
        self.accept(principal)
        return principal

    def accept(self, principal: Principal) -> None:
        """Counts a success, also one that another part of the gateway has found."""
        self._metrics.accepted(principal.kind)

    def refused(self, error: CredentialRefused, sent: Sent) -> GatewayError:
        """Counts and notes a failure, also one that another part has found, and returns what to answer."""
        answer: GatewayError = error
        if error.reason is not CredentialFault.MISSING:
            answer = self._authenticator.attempts.refused(error, sent.peer, sent.key_id)
        is_throttled = isinstance(answer, TooManyFailures)
        if self._note_failure is not None:
            self._note_failure(sent, error)
        self._metrics.failed(sent.kind, error.reason, is_throttled=is_throttled)
        _log.warning(
            "authentication_failed",
            peer=sent.peer,
            kind=sent.kind,
            code=error.code,
            reason=error.reason.value,
            key_id=sent.key_id,
            is_throttled=is_throttled,
        )
        return answer
