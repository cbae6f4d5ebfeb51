"""Functions to call in other processes, including ones that hang or fail."""

from __future__ import annotations

import os

from service.ports.bounded_calls import Answer


def doubled(_: Answer, number: int) -> int:
    return 2 * number


def asked(answer: Answer, *names: str) -> list[object]:
    return [answer(name, len(name)) for name in names]


def endless(_: Answer) -> None:
    # This runs in compiled code, so nothing inside the process can interrupt it.
    pow(7, 10**9, 10 ** (10**5))


def failing(_: Answer) -> None:
    raise ValueError("said the function")


def ending(_: Answer) -> None:
    os._exit(3)


def swallowing(_: Answer) -> int:
    return len(bytearray(1 << 40))


def deep(_: Answer, depth: int) -> object:
    found: object = None
    for _number in range(depth):
        found = (found,)
    return found


def bulky(_: Answer) -> bytes:
    return bytes(64 * 1024**2)
