"""A login at an issuer that has begun: what a browser keeps of it, and what follows from that."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass, field

_TEXT = re.compile(r"([A-Za-z_][A-Za-z0-9_-]{0,62})\.([0-9]{1,12})\.([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class PendingLogin:
    """One login. `state`, `nonce` and `verifier` follow from its secret, so no replica has to store them.

    They also depend on the issuer and on the second of the beginning. If either is changed, they do not fit
    those that the issuer has got.

    Args:
        issuer: the operator's name for the issuer.
        begun_s: when it began, in seconds since 1970.
    """

    issuer: str
    begun_s: int
    secret: str = field(repr=False)

    @property
    def text(self) -> str:
        """The text that the browser keeps.

        >>> login = PendingLogin("corp", 7, "A" * 43)
        >>> login.text, pending_login(login.text) == login
        ('corp.7.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', True)
        """
        return f"{self.issuer}.{self.begun_s}.{self.secret}"

    @property
    def state(self) -> str:
        """Comes back with the code, and shows that this browser began the login."""
        return self._derived("state")

    @property
    def nonce(self) -> str:
        """Comes back in the ID token, and shows that the token was made for this login."""
        return self._derived("nonce")

    @property
    def verifier(self) -> str:
        """Shows the issuer that the sender of a code is who asked for it (RFC 7636)."""
        return self._derived("verifier")

    @property
    def challenge(self) -> str:
        """The SHA-256 of the verifier, which the issuer gets first."""
        return _encoded(hashlib.sha256(self.verifier.encode()).digest())

    def is_state(self, sent: str) -> bool:
        """Whether a state that came back is that of this login."""
        return hmac.compare_digest(self.state.encode(), sent.encode("utf-8", "replace"))

    def _derived(self, purpose: str) -> str:
        about = f"{purpose}\n{self.issuer}\n{self.begun_s}".encode()
        return _encoded(hmac.digest(self.secret.encode(), about, "sha256"))


def new_login(issuer: str, now_s: int) -> PendingLogin:
    """Returns a login that begins now."""
    return PendingLogin(issuer, now_s, secrets.token_urlsafe(32))


def pending_login(text: str) -> PendingLogin | None:
    """Returns the login that a browser has kept. None: the text is not one.

    >>> pending_login("corp.7.short"), pending_login("")
    (None, None)
    """
    found = _TEXT.fullmatch(text)
    return None if found is None else PendingLogin(found[1], int(found[2]), found[3])


def _encoded(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
