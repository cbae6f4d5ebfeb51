"""The cookie of a browser that has logged in, and which of its requests count."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.datastructures import Headers
from starlette.types import Scope

from service.errors.credential_errors import CrossSiteRequest

COOKIE, SECURE_COOKIE = "sluice_session", "__Host-sluice_session"
LOGIN_COOKIE, SECURE_LOGIN_COOKIE = "sluice_login", "__Host-sluice_login"
"""With TLS, the prefix makes browsers refuse the cookie from any other host or path."""
HEADER = "X-Sluice-Console"
"""Sent with every request of the console that changes something: no form of another page can send it."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def session_text(headers: Headers, *, has_tls: bool) -> str | None:
    """Returns the text of the session in the request's cookies. None: there is none.

    Cookies of other programs on the same host may be malformed, and do not matter. If the cookie is there
    with several texts, a page of another host has set one of them, so there is none.

    >>> session_text(Headers({"cookie": 'a={"b": 1}; sluice_session=abc'}), has_tls=False)
    'abc'
    >>> session_text(Headers({"cookie": "sluice_session=abc; sluice_session=def"}), has_tls=False)
    """
    # Without TLS here, a proxy may have it.
    for name in (SECURE_COOKIE,) if has_tls else (SECURE_COOKIE, COOKIE):
        texts = set(_texts_of(name, headers))
        if texts:
            return texts.pop() if len(texts) == 1 else None
    return None


def _texts_of(name: str, headers: Headers) -> Iterator[str]:
    for cookie in ";".join(headers.getlist("cookie")).split(";"):
        found, _, text = cookie.partition("=")
        # Not all that Unicode calls a space: browsers let any page set a cookie with such a name.
        if found.strip(" \t") == name and text.strip():
            yield text.strip()


def set_cookie(text: str, lifetime_s: int, *, is_secure: bool) -> str:
    """Returns the header that gives a browser its session. No script can read it.

    >>> set_cookie("abc", 60, is_secure=True)
    '__Host-sluice_session=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure'
    >>> set_cookie("", 0, is_secure=False)
    'sluice_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict'
    """
    name, secure = (SECURE_COOKIE, "; Secure") if is_secure else (COOKIE, "")
    return f"{name}={text}; Path=/; Max-Age={lifetime_s}; HttpOnly; SameSite=Strict{secure}"


def login_text(headers: Headers, *, secure: bool) -> str | None:
    """Returns the text of the login that this browser has begun. None: there is none, or there are several.

    >>> login_text(Headers({"cookie": "sluice_login=abc"}), secure=False)
    'abc'
    """
    texts = set(_texts_of(SECURE_LOGIN_COOKIE if secure else LOGIN_COOKIE, headers))
    return texts.pop() if len(texts) == 1 else None


def set_login_cookie(text: str, lifetime_s: int, *, secure: bool) -> str:
    """Returns the header that gives a browser its pending login.

    It is `Lax`, because the issuer's page leads the browser back here: a `Strict` cookie would be missing in
    that request. It opens nothing without a code of the issuer.

    >>> set_login_cookie("abc", 60, secure=True)
    '__Host-sluice_login=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure'
    """
    name, ending = (SECURE_LOGIN_COOKIE, "; Secure") if secure else (LOGIN_COOKIE, "")
    return f"{name}={text}; Path=/; Max-Age={lifetime_s}; HttpOnly; SameSite=Lax{ending}"


def is_secure(headers: Headers, *, has_tls: bool) -> bool:
    """Whether the page came by TLS: from this gateway, or from a proxy before it."""
    return has_tls or headers.get("Origin", "").startswith("https://")


def check_is_own_page(scope: Scope, headers: Headers) -> None:
    """Checks that a request with a cookie comes from the console, if it can change something.

    A browser sends the cookie with requests of all pages of the same site, also those of another port.

    Raises:
        CrossSiteRequest: another page sent it.
    """
    site = headers.get("Sec-Fetch-Site")
    is_foreign = not _has_own_origin(headers) if site is None else site not in ("same-origin", "none")
    if scope["method"] in _SAFE:
        if is_foreign and headers.get("Sec-Fetch-Mode") != "navigate":
            raise CrossSiteRequest
        return
    if is_foreign or HEADER not in headers:
        raise CrossSiteRequest


def _has_own_origin(headers: Headers) -> bool:
    origin = headers.get("Origin")
    if origin is None:
        return True
    host = headers.get("Host", "").strip().lower()
    return origin.lower() in (f"http://{host}", f"https://{host}")
