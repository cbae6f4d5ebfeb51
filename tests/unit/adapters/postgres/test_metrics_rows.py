"""Versions that share a schema read each other's rows, whatever names they have for their values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from service.adapters.postgres.query_records.metrics_rows import query_values, record_of, scan_values
from service.adapters.postgres.shared.metrics_tables import QueryRow, ScanRow
from service.model.query.query import QueryRecord
from service.model.query.reuse import Reused, ReuseKind
from service.model.query.rewrites import RewriteKind, RewriteRecord
from service.model.query.scan_metrics import ScanRecord, Selection
from service.model.query.verification import Verification
from tests.fakes.query_records import full_record, scan


def read(**values: Any) -> QueryRecord:
    """Returns the record of a row with these values."""
    return record_of(QueryRow(**(query_values(full_record()) | values), scans=[], filters=[]))


def rewrite(kind: str) -> dict[str, object]:
    return {"kind": kind, "table": "lake.shop.days", "detail": "", "mention": None, "filter_id": ""}


@pytest.mark.parametrize("kind", RewriteKind)
def test_every_rewrite_is_read_as_it_was_written(kind: RewriteKind) -> None:
    written = replace(full_record(), rewrites=(RewriteRecord(kind, "lake.shop.days"),))
    assert read(rewrites=query_values(written)["rewrites"]).rewrites == written.rewrites


def test_what_was_reused_is_read_as_it_was_written() -> None:
    refresh = RewriteRecord(RewriteKind.REFRESH, "lake.shop.sales", "groups as of snapshot 7")
    for kind, rewrites in ((ReuseKind.RESULT, ()), (ReuseKind.REFRESHED, (refresh,))):
        written = replace(full_record(), reused=Reused(UUID(int=7), 5, kind), rewrites=rewrites)
        values = query_values(written)
        names = ("reused_from", "reused_age_ms", "rewrites")
        assert read(**{name: values[name] for name in names}).reused == written.reused


@pytest.mark.parametrize("outcome", [*Verification, None])
def test_every_verification_is_read_as_it_was_written(outcome: Verification | None) -> None:
    written = replace(full_record(), verification=outcome)
    assert read(verification=query_values(written)["verification"]).verification is outcome


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("JOIN_DROPPED", [RewriteKind.JOIN_ELIMINATED]),
        ("JOIN_ELIMINATED", [RewriteKind.JOIN_ELIMINATED]),
        ("VIEW_OPENED", [RewriteKind.VIEW_EXPANDED]),
        ("VIEW_EXPANDED", [RewriteKind.VIEW_EXPANDED]),
        ("SOMETHING_NEWER", []),
    ],
)
def test_rewrites_of_other_versions_are_read_or_left_out(kind: str, expected: list[RewriteKind]) -> None:
    assert [record.kind for record in read(rewrites=[rewrite(kind)]).rewrites] == expected
    newer = rewrite("READ_OPTIONS") | {"named": kind}
    assert [record.kind for record in read(rewrites=[newer]).rewrites] == expected


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        ("NOT_NARROWED", Verification.NOT_PRUNED),
        ("NOT_PRUNED", Verification.NOT_PRUNED),
        ("SOMETHING_NEWER", None),
    ],
)
def test_verifications_of_other_versions_are_read_or_left_out(
    outcome: str, expected: Verification | None
) -> None:
    assert read(verification=outcome).verification is expected


def test_the_version_before_knows_every_name_that_is_written() -> None:
    rewrites = tuple(RewriteRecord(kind) for kind in RewriteKind)
    values: Any = query_values(replace(full_record(), rewrites=rewrites))
    assert {rewrite["kind"] for rewrite in values["rewrites"]} == {
        "READ_OPTIONS",
        "LOCAL_RELATION",
        "ONE_READING",
        "JOIN_DROPPED",
        "NATIVE_PRUNING_OFF",
        "VIEW_OPENED",
    }


def read_scans(written: QueryRecord, rewrites: Any) -> tuple[ScanRecord, ...]:
    scans = [ScanRow(**values) for values in scan_values(written)]
    return record_of(
        QueryRow(**(query_values(written) | {"rewrites": rewrites}), scans=scans, filters=[])
    ).scans


def with_row_groups(*selections: Selection | None) -> QueryRecord:
    scans = (
        replace(scan("lake.shop.sales", 4, 1), metrics=replace(METRICS, row_groups=found))
        for found in selections
    )
    return replace(full_record(), scans=tuple(scans))


METRICS = scan("lake.shop.sales", 4, 1).metrics
KNOWN, SKIPPED = Selection(40, 3), Selection(8, 0)


@pytest.mark.parametrize("selections", [(KNOWN,), (None, KNOWN), (SKIPPED, None, KNOWN), (None, None), ()])
def test_row_groups_are_read_as_they_were_written(selections: tuple[Selection | None, ...]) -> None:
    written = with_row_groups(*selections)
    values: Any = query_values(written)
    assert read_scans(written, values["rewrites"]) == written.scans
    # No version takes them for a rewrite.
    assert read(rewrites=values["rewrites"]).rewrites == written.rewrites


@pytest.mark.parametrize("selections", [(KNOWN,), (None,), (SKIPPED, None)])
def test_files_that_row_groups_leave_out_are_read_as_they_were_written(
    selections: tuple[Selection | None, ...],
) -> None:
    known = with_row_groups(*selections)
    scans = tuple(replace(found, files_left_out=3 - number) for number, found in enumerate(known.scans))
    written = replace(known, scans=scans)
    values: Any = query_values(written)
    assert read_scans(written, values["rewrites"]) == written.scans


def test_row_groups_are_not_known_of_records_of_the_version_before() -> None:
    written = with_row_groups(KNOWN, KNOWN)
    assert [found.metrics.row_groups for found in read_scans(written, [])] == [None, None]


def test_row_groups_of_other_scans_are_left_out() -> None:
    values: Any = query_values(with_row_groups(KNOWN))
    [found] = read_scans(with_row_groups(None), values["rewrites"])
    assert found.metrics.row_groups == KNOWN
    assert {
        each.metrics.row_groups for each in read_scans(with_row_groups(None, None), values["rewrites"])
    } == {None}
