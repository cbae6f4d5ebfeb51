"""What a hostile caller does, as functions of its client."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Sequence
from functools import partial

import httpx

Attack = Callable[[httpx.Client], None]

HOLDS_S = 20.0
PATIENCE_S = 60.0


def queries(*texts: str, timeout_s: int = 5) -> Attack:
    """All texts at once, each once."""

    def attack(client: httpx.Client) -> None:
        body = {"timeout": f"{timeout_s}s", "waitTimeout": "40s"}
        _at_once([partial(_post, client, "/query", body | {"sql": text}) for text in texts])

    return attack


def plans(*texts: str, timeout_s: int = 5) -> Attack:
    """All texts at once, to be planned alone."""

    def attack(client: httpx.Client) -> None:
        body = {"timeout": f"{timeout_s}s"}
        _at_once([partial(_post, client, "/explain", body | {"sql": text}) for text in texts])

    return attack


def flood(text: str, count: int, timeout_s: int = 30) -> Attack:
    """So many queries of one text, for whose ends nobody waits."""

    def attack(client: httpx.Client) -> None:
        for _ in range(count):
            _post(client, "/query", {"sql": text, "timeout": f"{timeout_s}s", "waitTimeout": "0s"})

    return attack


def sockets(count: int, opening: bytes, more: bytes = b"") -> Attack:
    """So many connections that say `opening`, then `more` once, and nothing else."""

    def attack(client: httpx.Client) -> None:
        address = (client.base_url.host, client.base_url.port or 80)
        with contextlib.ExitStack() as stack:
            for _ in range(count):
                with contextlib.suppress(OSError):
                    opened = stack.enter_context(socket.create_connection(address, 10))
                    opened.sendall(opening)
                    opened.sendall(more)
            threading.Event().wait(HOLDS_S)

    return attack


def _at_once(calls: Sequence[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=each, daemon=True) for each in calls]
    for each in threads:
        each.start()
    for each in threads:
        each.join(PATIENCE_S)


def _post(client: httpx.Client, path: str, body: dict[str, str]) -> None:
    with contextlib.suppress(httpx.TransportError):
        client.post(path, json=body)
