"""The gateway understands the requests that the documents show."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import httpx
import pytest

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[4]
PAGES = ("README.md", *(str(page.relative_to(ROOT)) for page in sorted((ROOT / "docs").rglob("*.md"))))
_BLOCK = re.compile(r"^```\w*\n(curl .*?)^```$", re.MULTILINE | re.DOTALL)


def examples() -> Iterator[tuple[str, dict[str, str], str]]:
    """Yields the path, headers and body of each documented request that sends JSON."""
    for page in PAGES:
        for block in _BLOCK.findall((ROOT / page).read_text(encoding="utf-8")):
            words = shlex.split(block.replace("\\\n", " "), comments=True)
            headers = dict(after.split(": ", 1) for word, after in pairwise(words) if word == "-H")
            if "-d" in words:
                url = next(word for word in words if word.startswith("http"))
                yield url.removeprefix("http://127.0.0.1:8080"), headers, words[words.index("-d") + 1]


EXAMPLES = list(examples())


def test_the_examples_are_found() -> None:
    assert {"/query", "/explain", "/ingest", "/streams"} <= {path for path, _, _ in EXAMPLES}


@pytest.mark.parametrize(("path", "headers", "body"), EXAMPLES, ids=[example[0] for example in EXAMPLES])
async def test_an_example_is_understood(
    client: httpx.AsyncClient, path: str, headers: dict[str, str], body: str
) -> None:
    answer = await client.post(path, content=body, headers=headers)
    assert answer.status_code not in (400, 415, 422), answer.text
