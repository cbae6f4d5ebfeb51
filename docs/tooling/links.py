"""Links between the documents of the repository: each leads to a file, and to a heading of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_CODE = re.compile(r"^([ \t]*)```.*?^\1```[^\n]*$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]*)\)")
_ROOMS = "api|bench|deploy|docs|helm|migrations|service|spark_session|tests"
_NAMED = re.compile(rf"`((?:{_ROOMS})/[\w./-]+)`")
MADE_BY_THEIR_READER = frozenset({"deploy/compose/secrets/sluice.yaml"})
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
_ELSEWHERE = ("http://", "https://", "mailto:")


def broken_links(page: Path) -> Iterator[str]:
    """The targets that are not there."""
    for target in _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if target.startswith(_ELSEWHERE):
            continue
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield target


def missing_files(page: Path, root: Path) -> Iterator[str]:
    """Files and folders of the repository that the page names in backticks, and that are not there."""
    for name in sorted(set(_NAMED.findall(page.read_text(encoding="utf-8")))):
        if name not in MADE_BY_THEIR_READER and not (root / name).exists():
            yield name


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page: the names that a link may have behind `#`.

    >>> anchor_of("`GET /query/{query_id}`")
    'get-queryquery_id'
    """
    found = map(anchor_of, _HEADING.findall(_CODE.sub("", page.read_text(encoding="utf-8"))))
    counts = Counter[str]()
    names = set[str]()
    for name in found:
        names.add(f"{name}_{counts[name]}" if counts[name] else name)
        counts[name] += 1
    return frozenset(names)


def anchor_of(heading: str) -> str:
    """As the site names it."""
    words = re.sub(r"[^\w\s-]", "", heading, flags=re.ASCII).strip().lower()
    return re.sub(r"[-\s]+", "-", words)
