"""The samples of a page: what to send, what to expect, and the files and scripts that it shows."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
GATEWAY = "http://127.0.0.1:8080"
ANYTHING = "…"
"""Stands in a shown answer for a value that differs from run to run."""
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Request:
    """One `curl`, and the answer that the page shows for it, or None."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: str | None
    file: str | None
    expected: Any = None


@dataclass(slots=True)
class Page:
    """What a page has to try."""

    steps: list[Request | str] = field(default_factory=list)
    """Requests, and scripts in Python."""
    files: dict[str, str] = field(default_factory=dict)


def page(path: str) -> Page:
    """The samples of this page of the repository."""
    found = Page()
    for language, title, text in _BLOCK.findall((ROOT / path).read_text(encoding="utf-8")):
        last = found.steps[-1] if found.steps else None
        if title:
            found.files[title] = text
        elif language == "bash":
            found.steps.append(_request(text))
        elif language == "python":
            found.steps.append(text)
        elif language == "json" and isinstance(last, Request) and last.expected is None:
            found.steps[-1] = Request(
                last.method, last.path, last.headers, last.body, last.file, json.loads(text)
            )
    return found


def differences(expected: Any, actual: Any, place: str = "") -> Iterator[str]:
    """Where an answer is not what the page shows. A page may leave fields out."""
    if expected == ANYTHING:
        return
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name, value in expected.items():
            if name in actual:
                yield from differences(value, actual[name], f"{place}/{name}")
            else:
                yield f"{place}/{name} is not there"
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
            yield from differences(one, other, f"{place}/{number}")
    elif expected != actual:
        yield f"{place} is {actual!r}, not {expected!r}"


def _request(command: str) -> Request:
    words = shlex.split(command.replace("\\\n", " "))
    values = dict(pairwise(words))
    headers = dict(after.split(": ", 1) for word, after in pairwise(words) if word == "-H")
    [url] = [each for each in words if each.startswith(GATEWAY)]
    data = values.get("--data-binary", values.get("-d"))
    is_file = data is not None and data.startswith("@")
    method = values.get("-X", "GET" if data is None else "POST")
    file = data[1:] if data is not None and is_file else None
    return Request(method, url.removeprefix(GATEWAY), headers, None if is_file else data, file)
