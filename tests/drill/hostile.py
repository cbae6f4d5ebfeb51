"""A hostile caller: `python -m tests.drill.hostile URL FOLDER NAME`, the token in the environment.

It is a separate process, so that it does not use the bystander's time, and can be killed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import httpx

TOKEN = "DRILL_TOKEN"
TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Hostile:
    """The attacker's view: the gateway's URL, a token, and a folder from which sources may be read."""

    url: str
    token: str
    folder: Path

    @cached_property
    def client(self) -> httpx.Client:
        """A client that opens as many connections as there are threads that use it."""
        return httpx.Client(
            base_url=self.url,
            headers=self.headers,
            timeout=TIMEOUT_S,
            limits=httpx.Limits(),
            trust_env=False,
        )

    @property
    def headers(self) -> dict[str, str]:
        """The header that identifies the caller."""
        return {"Authorization": f"Bearer {self.token}"}

    @property
    def address(self) -> tuple[str, int]:
        """The gateway's host and port."""
        url = httpx.URL(self.url)
        return url.host, url.port or 80

    def head(self, line: str, *headers: str) -> bytes:
        """Returns the head of a request, with the token."""
        host, port = self.address
        known = (f"Host: {host}:{port}", f"Authorization: Bearer {self.token}")
        return "\r\n".join((f"{line} HTTP/1.1", *known, *headers, "", "")).encode()


Attack = Callable[[Hostile], None]


def main() -> None:
    """Runs the attack of this name."""
    from tests.drill.inputs import HOSTILE_INPUTS

    url, folder, name = sys.argv[1:]
    HOSTILE_INPUTS[name](Hostile(url, os.environ[TOKEN], Path(folder)))
    # This ends threads that still wait for an answer.
    os._exit(0)


if __name__ == "__main__":
    main()
