"""Port of the issuers that log in the users of the console."""

from __future__ import annotations

from typing import Protocol

from service.model.authentication.access_tokens import ReadToken, SigningKey
from service.model.authentication.code_flow import IssuedTokens, LoginEndpoints
from service.model.authentication.issuer_sessions import LoggedIn


class LoginIssuers(Protocol):
    """Asks issuers, and verifies what they issue. Any thread may call any method.

    `issuer` is the operator's name for an issuer. `endpoints` and `redeem` take seconds at most.
    """

    def endpoints(self, issuer: str) -> LoginEndpoints:
        """Returns where the issuer logs users in.

        Raises:
            AuthenticationDown: the issuer does not answer, or has no endpoint that can be used.
        """
        ...

    def address(self, issuer: str, endpoints: LoginEndpoints, sent: dict[str, str]) -> str:
        """Returns the address that the browser is led to, with what is `sent` and the client's own fields."""
        ...

    def redeem(
        self, issuer: str, endpoints: LoginEndpoints, code: str, verifier: str, redirect_uri: str
    ) -> IssuedTokens:
        """Exchanges a code for tokens.

        Raises:
            LoginRefused: the issuer does not accept the code.
            AuthenticationDown: the issuer does not answer, or its answer has no tokens.
        """
        ...

    def read(self, issuer: str, tokens: IssuedTokens) -> tuple[ReadToken, ...]:
        """Returns the tokens that say who the user is, without verifying them: the ID token is the first.

        Raises:
            LoginTokenInvalid: one of them is not a token of this issuer.
        """
        ...

    def verify(
        self, issuer: str, tokens: tuple[ReadToken, ...], keys: tuple[SigningKey, ...], nonce: str
    ) -> LoggedIn:
        """Verifies these tokens, each with its key, and returns the user.

        Raises:
            LoginTokenInvalid: a signature or a claim is wrong, the ID token is for another login, or the
                tokens are about two users.
        """
        ...
