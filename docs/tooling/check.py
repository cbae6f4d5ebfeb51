"""`python -m docs.tooling.check`: words, sentences and links of all documents. A part of `make check`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from docs.tooling.links import broken_links, missing_files
from docs.tooling.prose import faults

ROOT = Path(__file__).parents[2]
GENERATED = frozenset(
    {
        "docs/operations/benchmarks.md",
        "docs/reference/http-api.md",
        "docs/reference/settings.md",
    }
)
"""Their sentences come from code, and are written there."""
AS_THEY_WERE = frozenset(
    {
        "docs/contributing/adr/0013-tables-of-files-in-sparks-catalog.md",
        "docs/contributing/adr/0015-accepted-is-committed-once.md",
        "docs/contributing/adr/0016-a-writer-of-its-own.md",
        "docs/contributing/adr/0017-schemas-by-name.md",
        "docs/contributing/adr/0018-row-deltas-are-made-in-the-jvm.md",
        "docs/contributing/adr/0019-an-upsert-has-a-round-of-its-own.md",
        "docs/contributing/adr/0020-records-are-read-at-once-where-that-is-the-same.md",
        "docs/contributing/adr/0021-executors-run-one-function.md",
        "docs/contributing/adr/0022-tables-are-maintained-beside-the-queries.md",
        "docs/contributing/adr/0023-micro-batches-are-ingests.md",
        "docs/contributing/adr/0026-what-unfolds-is-measured-first.md",
        "docs/contributing/adr/0027-settings-are-named-by-part-and-unit.md",
        "docs/contributing/adr/0028-a-broken-engine-is-replaced.md",
        "docs/contributing/adr/0030-bounds-before-a-request-is-one.md",
        "docs/contributing/adr/0031-texts-are-read-where-a-deadline-can-end-it.md",
        "docs/contributing/adr/0032-searches-for-files-are-walks-of-one-pass.md",
        "docs/contributing/adr/0033-a-round-may-hold-several-upserts.md",
        "docs/contributing/adr/0034-never-more-files-than-sparks-own-pruning.md",
        "docs/contributing/adr/0035-files-are-learned-by-manifest.md",
        "docs/contributing/adr/0036-a-short-text-is-bounded-before-it-runs.md",
        "docs/contributing/adr/0037-compaction-keeps-write-schemas-apart.md",
        "docs/contributing/adr/0039-deletes-that-delete-nothing-are-left-out.md",
        "docs/contributing/adr/0040-gateways-are-a-stateful-set.md",
        "docs/contributing/adr/0041-the-image-holds-all-that-runs.md",
        "docs/contributing/adr/0044-a-stop-goes-in-steps.md",
        "docs/contributing/adr/0045-replicas-meet-in-the-metrics-store.md",
        "docs/contributing/adr/0047-the-gateway-tells-lineage-itself.md",
        "docs/contributing/adr/0048-traces-by-a-small-port.md",
        "docs/contributing/adr/0049-stores-fail-over-by-their-addresses.md",
        "docs/reference/metrics.md",
    }
)
"""Pages that are still to be written in plain English. None is added; a page that is clean leaves."""


def documents() -> Iterator[Path]:
    """Every document of the repository."""
    yield from (ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"))
    yield from sorted((ROOT / "docs").rglob("*.md"))


def main() -> int:
    """Prints each fault with its place; 1 if there are any."""
    found = [*_faults(), *_clean_ones()]
    for each in found:
        print(each)
    return 1 if found else 0


def _faults() -> Iterator[str]:
    for page in documents():
        name = page.relative_to(ROOT).as_posix()
        yield from (f"{name}: the link {target} leads nowhere" for target in broken_links(page))
        yield from (f"{name}: there is no {each}" for each in missing_files(page, ROOT))
        if name not in GENERATED | AS_THEY_WERE:
            for fault in faults(page.read_text(encoding="utf-8")):
                yield f"{name}:{fault.line}: {fault.found!r}: {fault.instead}"


def _clean_ones() -> Iterator[str]:
    for name in sorted(AS_THEY_WERE):
        if not faults((ROOT / name).read_text(encoding="utf-8")):
            yield f"{name}: it is clean; take it off the list in docs/tooling/check.py"


if __name__ == "__main__":
    sys.exit(main())
