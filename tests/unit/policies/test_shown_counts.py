"""Counts of files and rows are shown only to principals that see every row."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS, Access
from service.model.policies.policies import ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.query.scan_metrics import Selection
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.policies.shown_counts import shows_counts, shows_writes, with_shown_counts, without_row_counts
from tests.fakes.gateway import FakeGateway
from tests.fakes.queries import SCAN

RETURNS = TablePattern.parse("lake.tpcds.store_returns")
SELECTED = PolicySet(
    grants=(
        *(Grant(role, Action.SELECT, RETURNS) for role in ("all", "some", "masked")),
        Grant("describer", Action.DESCRIBE, RETURNS),
    ),
    row_filters=(RowFilter("some", RETURNS, "a = 1"),),
    column_masks=(ColumnMask("masked", RETURNS, "a", "NULL"),),
)


def access(*roles: str) -> Access:
    return RoleAccess(CompiledPolicies(SELECTED), frozenset(roles))


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (("all",), True),
        (("masked",), True),
        (("all", "some"), True),
        (("some",), False),
        (("describer",), False),
        ((), False),
    ],
)
def test_counts_are_shown_to_who_sees_every_row(roles: tuple[str, ...], expected: bool) -> None:
    table = TableName.of(SCAN.table)
    assert shows_counts(access(*roles), table) is expected
    (shown,) = with_shown_counts([SCAN], access(*roles))
    assert (shown == SCAN) is expected
    assert (shown.table, shown.snapshot_id) == (SCAN.table, SCAN.snapshot_id)
    if not expected:
        assert {shown.metrics.rows, shown.metrics.data_files, shown.metrics.bytes} == {Selection(0, 0)}


@pytest.mark.parametrize(
    ("role", "expected"), [("all", True), ("masked", True), ("some", False), ("describer", True), ("", False)]
)
def test_writes_are_shown_to_who_knows_the_table_and_sees_every_row_of_it(role: str, expected: bool) -> None:
    assert shows_writes(access(role), TableName.of(SCAN.table)) is expected


@pytest.mark.parametrize(
    ("role", "expected"), [("all", True), ("masked", True), ("some", False), ("letters", False), ("", False)]
)
def test_dead_letters_are_counted_for_who_may_know_of_their_table(role: str, expected: bool) -> None:
    letters = TablePattern.parse("lake.tpcds.store_returns__dead_letter")
    roles = ("all", "some", "masked", "letters")
    grants = (*SELECTED.grants, *(Grant(each, Action.SELECT, letters) for each in roles))
    found = RoleAccess(CompiledPolicies(replace(SELECTED, grants=grants)), frozenset({role}))
    table = TableName.of(str(letters))
    assert shows_writes(found, table) is expected
    assert shows_counts(found, table) is (role == "all")


def test_without_policies_counts_are_shown() -> None:
    assert with_shown_counts([SCAN], FULL_ACCESS) == (SCAN,)


def test_a_table_without_counts_has_an_unknown_number_of_rows() -> None:
    facts = without_row_counts(FakeGateway().table(TableName.of(SCAN.table)))
    assert (facts.live_record_count, facts.most_records) == (None, None)
    assert (facts.data_file_count, facts.total_bytes) == (0, 0)
