"""A token that no repr, log or error shows."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator
from typing import TypeAlias

import httpx

TOKEN_VARIABLE = "SLUICE_TOKEN"
TokenSource: TypeAlias = str | Callable[[], str]
"""A token, or a function that returns the one that is valid now. It is called for each request."""
_TOKEN = re.compile(r"[\x21-\x7e]{1,8192}")


class BearerToken(httpx.Auth):
    """Sends a token as `Authorization: Bearer <token>`."""

    __slots__ = ("_source",)

    def __init__(self, source: TokenSource) -> None:
        self._source = source if callable(source) else _always(_checked(source))

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Adds the header.

        Raises:
            ValueError: the source did not return a token.
        """
        request.headers["Authorization"] = f"Bearer {_checked(self._source())}"
        yield request

    def __repr__(self) -> str:
        return "BearerToken(…)"

    def __reduce__(self) -> str:
        raise TypeError("a token is not pickled")


def token_of(token: TokenSource | None) -> BearerToken | None:
    """Returns the given token, or that of the environment variable `SLUICE_TOKEN`, or None.

    Raises:
        ValueError: it is not a token.
    """
    chosen = os.environ.get(TOKEN_VARIABLE, "").strip() if token is None else token
    return BearerToken(chosen) if chosen else None


def _checked(token: str) -> str:
    if not _TOKEN.fullmatch(token):
        # The message of an HTTP library about a header that is not valid would show it.
        raise ValueError("the token has characters that no token has, such as spaces or line ends")
    return token


def _always(token: str) -> Callable[[], str]:
    return lambda: token
