"""`python -m docs.tooling.check`: words, sentences and links of all documents. A part of `make check`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from docs.tooling.code_texts import texts_in_code
from docs.tooling.links import broken_links, missing_files, missing_tests
from docs.tooling.prose import faults

ROOT = Path(__file__).parents[2]
GENERATED = frozenset(
    {
        "docs/operations/benchmarks.md",
        "docs/reference/http-api.md",
        "docs/reference/licences.md",
        "docs/reference/settings.md",
        "docs/reference/sql-security.md",
    }
)
"""Their sentences come from code, and are written there."""
PACKAGES = ("api", "service", "spark_session", "migrations", "helm", "bench", "docs", "tests", "client")
"""Their docstrings and comments are prose, too."""


_FIRST = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "client/README.md")


def documents() -> Iterator[Path]:
    """Every document of the repository."""
    yield from (
        ROOT / name
        for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "client/README.md")
    )
    yield from sorted((ROOT / "docs").rglob("*.md"))


def main() -> int:
    """Prints each fault with its place; 1 if there are any."""
    found = [*_faults(), *_faults_in_code()]
    for fault in found:
        print(fault)
    return 1 if found else 0


def _faults() -> Iterator[str]:
    for page in documents():
        name = page.relative_to(ROOT).as_posix()
        yield from (f"{name}: the link {target} leads nowhere" for target in broken_links(page))
        yield from (f"{name}: there is no {file}" for file in missing_files(page, ROOT))
        yield from (f"{name}: there is no test {test}" for test in missing_tests(page, ROOT))
        if name not in GENERATED:
            for fault in faults(page.read_text(encoding="utf-8")):
                yield f"{name}:{fault.line}: {fault.found!r}: {fault.instead}"


def _faults_in_code() -> Iterator[str]:
    for package in PACKAGES:
        for module in sorted((ROOT / package).rglob("*.py")):
            name = module.relative_to(ROOT).as_posix()
            for text in texts_in_code(module.read_text(encoding="utf-8")):
                for fault in faults(text.text):
                    line = text.line + fault.line - 1
                    yield f"{name}:{line}: {fault.found!r}: {fault.instead}"


if __name__ == "__main__":
    sys.exit(main())
