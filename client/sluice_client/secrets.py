"""A token that no repr, log or error shows."""

from __future__ import annotations

import os
import re
from collections.abc import Generator

import httpx

TOKEN_VARIABLE = "SLUICE_TOKEN"
_TOKEN = re.compile(r"[\x21-\x7e]{1,8192}")


class BearerToken(httpx.Auth):
    """Sends a token as `Authorization: Bearer <token>`."""

    __slots__ = ("_token",)

    def __init__(self, token: str) -> None:
        if not _TOKEN.fullmatch(token):
            # The message of an HTTP library about a header that is not valid would show it.
            raise ValueError("the token has characters that no token has, such as spaces or line ends")
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Adds the header."""
        request.headers["Authorization"] = f"Bearer {self._token}"
        yield request

    def __repr__(self) -> str:
        return "BearerToken(…)"

    def __reduce__(self) -> str:
        raise TypeError("a token is not pickled")


def token_of(token: str | None) -> BearerToken | None:
    """Returns the given token, or that of the environment variable `SLUICE_TOKEN`, or None."""
    chosen = os.environ.get(TOKEN_VARIABLE, "").strip() if token is None else token
    return BearerToken(chosen) if chosen else None
