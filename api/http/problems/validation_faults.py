"""Reads Pydantic's findings as faults with JSON pointers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError

from api.bootstrap.spelling import words_of
from service.faults import Fault


def faults_of(error: RequestValidationError) -> list[Fault]:
    """Returns one fault per place; findings of several branches of a union are joined."""
    by_pointer: dict[str, list[str]] = {}
    for fault in error.errors():
        details = by_pointer.setdefault(_pointer(fault, error.body), [])
        detail = words_of(fault)
        if detail not in details:
            details.append(detail)
    return [Fault(" or ".join(details), pointer) for pointer, details in by_pointer.items()]


def _pointer(finding: dict[str, Any], body: Any) -> str:
    source, *steps = finding["loc"]
    if source != "body":
        return pointer([source, *steps])
    return pointer(_steps_in(body, steps, is_missing=finding["type"] == "missing"))


def _steps_in(body: Any, steps: Sequence[str | int], is_missing: bool) -> Iterable[str | int]:
    # Pydantic puts the names of a union's forms into the path. Only steps that the body has are places in it.
    for position, step in enumerate(steps):
        is_last = position == len(steps) - 1
        if isinstance(body, dict) and step in body:
            body = body[str(step)]
            yield step
        elif isinstance(body, list) and isinstance(step, int) and step < len(body):
            body = body[step]
            yield step
        elif is_last and is_missing:
            yield step


def pointer(steps: Iterable[str | int]) -> str:
    """A JSON pointer (RFC 6901).

    >>> pointer(["parameters", "a/b", 0])
    '/parameters/a~1b/0'
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)
