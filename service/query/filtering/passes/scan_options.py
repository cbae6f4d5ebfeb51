"""Sets Iceberg's read options of scans that filters leave less of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from service.model.filters.file_sizes import WHOLE, FileShare
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.tables.tables import TableFacts, TableName
from service.pruning.scan_layout.read_options import read_options
from service.query.filtering.applied_filter import AppliedFilter
from service.query.filtering.detection.detected import Detected
from service.query.filtering.passes.references import read_references


def scan_options(
    read: Collection[int], applied: Sequence[AppliedFilter], detected: Detected, slots: int
) -> Mapping[int, Mapping[str, str]]:
    """Returns Iceberg's read options for scans whose remaining files are known, by where the name ends.

    `read` is where the names of the tables end that are read from files. All references to one snapshot have
    the same options, for the largest of their shares: the engine applies those of the reference that it
    resolves first to the others too.
    """
    found: dict[int, Mapping[str, str]] = {}
    shares = _shares(applied)
    scans: dict[tuple[TableName, int], list[tuple[int, TableFacts]]] = {}
    for reference, facts in read_references(detected):
        if facts is not None and facts.snapshot_id is not None and reference.end in read:
            scans.setdefault((facts.name, facts.snapshot_id), []).append((reference.end, facts))
    for places in scans.values():
        if any(end in shares for end, _ in places):
            share = max(shares.get(end, WHOLE) for end, _ in places)
            options = read_options(places[0][1], share, slots)
            found |= dict.fromkeys((end for end, _ in places), options)
    return found


def _shares(applied: Sequence[AppliedFilter]) -> Mapping[int, FileShare]:
    """Returns the share of files that filters leave for each reference, if known."""
    shares: dict[int, FileShare] = {}
    for applied_filter in applied:
        if applied_filter.formed.share is not None:
            shares[applied_filter.end] = min(
                applied_filter.formed.share, shares.get(applied_filter.end, WHOLE)
            )
    return shares


def option_records(options: Mapping[int, Mapping[str, str]], detected: Detected) -> Iterator[RewriteRecord]:
    """Yields one record for each snapshot that is read with options."""
    read = (
        (facts, options[reference.end])
        for reference, facts in read_references(detected)
        if reference.end in options
    )
    said = {(facts.name, facts.snapshot_id): its_options for facts, its_options in read if facts is not None}
    for (name, _), its_options in said.items():
        detail = ", ".join(f"{key} = {value}" for key, value in sorted(its_options.items()))
        yield RewriteRecord(RewriteKind.READ_OPTIONS, str(name), detail)
