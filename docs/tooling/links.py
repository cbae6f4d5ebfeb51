"""Links between documents: each leads to a file and a heading; each named file and test exists."""

from __future__ import annotations

import ast
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
_TEST = re.compile(r"(?:tests/)?([a-z]\w*/[\w/]+\.py)::(\w+)")
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


def missing_tests(page: Path, root: Path) -> Iterator[str]:
    """Yields the tests that do not exist, of those that the page names as `unit/…/test_x.py::test_y`."""
    for name in _IN_BACKTICKS.findall(page.read_text(encoding="utf-8")):
        match = _TEST.fullmatch(name)
        if match and match[2] not in _functions(root / "tests" / match[1]):
            yield name


@cache
def _functions(module: Path) -> frozenset[str]:
    tree = ast.parse(module.read_text(encoding="utf-8")) if module.is_file() else ast.Module([], [])
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


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
