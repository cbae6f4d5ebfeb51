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
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\|)")
_IN_BACKTICKS = re.compile(r"`([^`\n]+)`")
_PATH = re.compile(rf"(?:{_ROOMS})/[\w./-]+")
_BRIEF_PATH = re.compile(r"[\w-]+(?:/[\w-]+)*(?:\.py|/)")
MADE_BY_THEIR_READER = frozenset({"deploy/compose/secrets/sluice.yaml"})
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
_ELSEWHERE = ("http://", "https://", "mailto:")


def broken_links(page: Path) -> Iterator[str]:
    """Yields the targets of links that do not exist."""
    for target in _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if target.startswith(_ELSEWHERE):
            continue
        if not file.exists() or (anchor and anchor not in anchors(file)):
            yield target


def missing_files(page: Path, root: Path) -> Iterator[str]:
    """Yields the files and folders of the repository that the page names in backticks, and that do not exist.

    A paragraph or a row of a table may also name a file without its folder. It must then lie beside a file
    whose whole path is there, in such a folder, or in a folder around it.
    """
    for paragraph in _PARAGRAPH.split(page.read_text(encoding="utf-8")):
        named = _IN_BACKTICKS.findall(paragraph)
        paths = [name for name in named if _PATH.fullmatch(name)]
        yield from (name for name in paths if not (root / name).exists() and name not in MADE_BY_THEIR_READER)
        around = {folder for name in paths for folder in (root / name, *(root / name).parents)}
        for name in named:
            is_brief = around and _BRIEF_PATH.fullmatch(name) and name not in paths
            if is_brief and not any((folder / name).exists() for folder in around):
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
