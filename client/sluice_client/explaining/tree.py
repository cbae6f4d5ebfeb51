"""An explanation as a tree of text: the scans, and below each the filters of its table."""

from __future__ import annotations

from collections.abc import Iterator

from sluice_client.explaining.explanation_facts import ExplanationFacts, Filter, Scan
from sluice_client.explaining.sizes import share, size


def tree(explanation: ExplanationFacts) -> str:
    """Returns the text, with one line for each scan and filter."""
    return "\n".join(_lines(explanation))


def _lines(explanation: ExplanationFacts) -> Iterator[str]:
    name = "plan" if explanation.query_id is None else f"query {explanation.query_id}"
    yield f"{name}: {explanation.state}, {sum(explanation.timings_ms.values())} ms"
    if explanation.error is not None:
        yield f"├─ {explanation.error}"
    tables = {scan.table for scan in explanation.scans}
    others = [found for found in explanation.filters if found.probe_table not in tables]
    roots: list[Scan | Filter] = [*explanation.scans, *others]
    for number, root in enumerate(roots, 1):
        is_last = number == len(roots)
        branch, indent = ("└─ ", "   ") if is_last else ("├─ ", "│  ")
        if isinstance(root, Filter):
            yield branch + _filter_line(root)
            continue
        yield branch + _scan_line(root)
        yield from _below(root, explanation, indent)


def _below(scan: Scan, explanation: ExplanationFacts, indent: str) -> Iterator[str]:
    found = [candidate for candidate in explanation.filters if candidate.probe_table == scan.table]
    for number, candidate in enumerate(found, 1):
        yield indent + ("└─ " if number == len(found) else "├─ ") + _filter_line(candidate)


def _scan_line(scan: Scan) -> str:
    files = f"{scan.data_files.selected} of {scan.data_files.total} files"
    if scan.data_files_left_out:
        files += f" ({scan.data_files_left_out} left out by their row groups)"
    read = f"{size(scan.bytes.selected)} of {size(scan.bytes.total)} ({share(scan.bytes):.0%})"
    groups = scan.row_groups
    of_groups = "" if groups is None else f", {groups.selected} of {groups.total} row groups"
    return f"{scan.table}: {files}, {read}{of_groups}" + ("" if scan.has_run else ", not run")


def _filter_line(found: Filter) -> str:
    probe = ", ".join(found.probe_columns) or found.probe_table
    if found.is_applied:
        keys = f"{', '.join(found.build_tables)}({', '.join(found.build_columns)})"
        where = f" where {found.predicate}" if found.predicate else ""
        return f"{found.filter_id} on {probe}: {found.values} keys of {keys}{where}, {found.source}"
    detail = f" ({found.detail})" if found.detail else ""
    return f"{found.filter_id or 'no filter'} on {probe}: {found.reason}{detail}"
