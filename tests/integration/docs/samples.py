"""Reads the samples of a page: requests with their answers, files and scripts."""

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
"""Stands for a value that differs from run to run."""
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Request:
    """A `curl` command, and the answer that the page shows for it, or None."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: str | None
    file: str | None
    expected: Any = None


@dataclass(slots=True)
class Page:
    """The samples of one page."""

    steps: list[Request | str] = field(default_factory=list)
    """Requests and Python scripts, in their order."""
    files: dict[str, str] = field(default_factory=dict)


def at_gateway(script: str, url: str) -> str:
    """Returns a script of a page that asks the gateway at this address, also by SQLAlchemy."""
    host = GATEWAY.removeprefix("http://")
    return script.replace(GATEWAY, url).replace(f"sluice://{host}", url.replace("http://", "sluice://"))


def page(path: str) -> Page:
    """Reads the samples of a page of the repository."""
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
    """Yields each place where an answer differs from the page.

    A page may omit fields, and the rest of a list: the list then ends with an ellipsis.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name, value in expected.items():
            if name in actual:
                yield from differences(value, actual[name], f"{place}/{name}")
            else:
                yield f"{place}/{name} is missing"
    elif isinstance(expected, list) and isinstance(actual, list):
        yield from _differences_of_lists(expected, actual, place)
    elif expected not in (ANYTHING, actual):
        yield f"{place} is {actual!r}, not {expected!r}"


def _differences_of_lists(expected: list[Any], actual: list[Any], place: str) -> Iterator[str]:
    if expected[-1:] == [ANYTHING]:
        expected, actual = expected[:-1], actual[: len(expected) - 1]
    if len(expected) != len(actual):
        yield f"{place} is {actual!r}, not {expected!r}"
        return
    for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
        yield from differences(one, other, f"{place}/{number}")


def _request(command: str) -> Request:
    words = shlex.split(command.replace("\\\n", " "))
    values = dict(pairwise(words))
    headers = dict(after.split(": ", 1) for word, after in pairwise(words) if word == "-H")
    [url] = [word for word in words if word.startswith(GATEWAY)]
    data = values.get("--data-binary", values.get("-d"))
    is_file = data is not None and data.startswith("@")
    method = values.get("-X", "GET" if data is None else "POST")
    file = data[1:] if data is not None and is_file else None
    return Request(method, url.removeprefix(GATEWAY), headers, None if is_file else data, file)
