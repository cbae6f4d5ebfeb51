from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from datetime import timedelta

import pytest

from api.http.authentication.issuers import Issuers
from service.authentication.signing_keys import SigningKeyTimes
from service.errors.credential_errors import AuthenticationDown
from service.model.authentication.access_tokens import ReadToken, SigningKey
from service.model.authentication.principals import Principal, PrincipalKind
from tests.fakes.clock import FakeClock

pytestmark = pytest.mark.anyio

KEY = SigningKey("one", frozenset({"RS256"}), object())


class SlowIssuer:
    """A `TokenVerifier` that accepts every token once its issuer has answered."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.is_down = False

    def read(self, token: str) -> ReadToken:
        return ReadToken(token, "corp", "one", "RS256")

    def verify(self, token: ReadToken, key: SigningKey) -> Principal:
        assert key is KEY
        return Principal(token.text, PrincipalKind.OIDC)

    def fetch(self, issuer: str) -> Mapping[str, SigningKey]:
        if self.is_down:
            raise AuthenticationDown
        assert self.may_answer.wait(60)
        assert issuer == "corp"
        return {"one": KEY}


async def test_no_request_waits_longer_than_its_bound_for_an_issuer() -> None:
    verifier = SlowIssuer()
    issuers = Issuers(["corp"], verifier, FakeClock(), SigningKeyTimes(), max_wait_s=0.01)
    with pytest.raises(AuthenticationDown):
        await issuers.principal("ada")
    verifier.may_answer.set()
    patient = Issuers(["corp"], verifier, FakeClock(), SigningKeyTimes(), max_wait_s=60)
    assert (await patient.principal("ada")).name == "ada"


async def test_no_request_holds_its_connection_for_long_while_an_issuer_is_down() -> None:
    verifier, clock = SlowIssuer(), FakeClock()
    verifier.is_down = True
    issuers = Issuers(["corp"], verifier, clock, SigningKeyTimes(), max_wait_s=600)
    with pytest.raises(AuthenticationDown):
        await issuers.principal("ada")
    verifier.is_down = False
    clock.advance(timedelta(seconds=5))
    async with asyncio.timeout(60):
        with pytest.raises(AuthenticationDown):
            await issuers.principal("ada")
    verifier.may_answer.set()
