"""Roles, actions and tables, each with each: allowed, refused, filtered or masked, as counted by hand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pytest

from service.errors.policy_errors import TableAccessDenied
from service.model.policies.actions import Action
from service.model.policies.decisions import Allowed, Refused
from service.model.policies.read_plan import ReadTable
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.policies.granted_reads import HISTORY, allow_table
from tests.unit.policies.by_hand import ByHand

TABLES = tuple(
    f"{catalog}.{schema}.{table}"
    for catalog in ("lake", "archive")
    for schema in ("sales", "hr", "sales.north")
    for table in (
        "orders",
        "items",
        "salaries",
        "Orders_2024",
        "orders__dead_letter",
        "Salaries__Dead_Letter",
    )
)
RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "nobody": (),
    "analyst": (("lake.sales.*", "select"), ("lake.hr.salaries", "!select")),
    "filtered": (("lake.*.orders", "select"), ("lake.*.orders", "rows:region = 'A'")),
    "masked": (("lake.*.*", "select"), ("lake.*.o*", "mask:card=NULL")),
    "loader": (("*.sales.*", "insert"), ("*.sales.*", "modify"), ("lake.sales.items", "create")),
    "keeper": (("archive.*.*", "maintain"), ("archive.hr.*", "!maintain")),
    "viewer": (("*.*.*", "describe"),),
    "boss": (("lake.*.*", "admin"),),
    "unseen": (("lake.*.*", "select"), ("lake.sales.*", "!select")),
    "barred": (("*.*.*", "select"), ("*.*.*", "!admin")),
    "letters": (("*.*.*__dead_letter", "select"), ("*.*.*__dead_letter", "!insert")),
    "owner": (("*.*.*", "admin"),),
}
"""Each role has actions, denials, row filters and masks, each by a pattern of tables."""
PRINCIPALS = (
    *(frozenset(roles) for count in (0, 1, 2) for roles in combinations(sorted(RULES), count)),
    frozenset({"filtered", "masked", "analyst"}),
    frozenset({"loader", "keeper", "viewer"}),
)
METADATA = (None, "FILES", "PARTITIONS", "POSITION_DELETES", "SNAPSHOTS", "HISTORY")


BY_HAND = ByHand(RULES)
COMPILED = CompiledPolicies(BY_HAND.policies())
expected = BY_HAND.cell


def decided(roles: frozenset[str], action: str, table: str) -> str:
    decision = COMPILED.decide(roles, Action(action), TableName.of(table))
    if isinstance(decision, Refused):
        return "refused"
    assert isinstance(decision, Allowed)
    kinds = [
        *(["filtered"] if decision.restriction.row_filter else []),
        *(["masked"] if decision.restriction.masks else []),
    ]
    return ", ".join(kinds) or "allowed"


def cells() -> Iterator[tuple[frozenset[str], str, str]]:
    for roles in PRINCIPALS:
        for action in Action:
            for table in TABLES:
                yield roles, str(action), table


def test_each_cell_is_decided_as_by_hand() -> None:
    all_cells = list(cells())
    assert len(all_cells) >= 2_000
    wrong = [cell for cell in all_cells if decided(*cell) != expected(*cell)]
    assert wrong == []
    outcomes = {expected(*cell) for cell in all_cells}
    assert outcomes >= {"allowed", "refused", "filtered", "masked"}


def test_case_of_a_table_does_not_count() -> None:
    for roles, action, table in cells():
        assert decided(roles, action, table.upper()) == decided(roles, action, table)


@pytest.mark.parametrize("metadata", METADATA)
def test_rows_and_metadata_are_read_as_the_cell_says(metadata: str | None) -> None:
    for roles in PRINCIPALS:
        for table in TABLES:
            name = TableName.of(table)
            read = ReadTable(name, name.parts, metadata, ())
            action = "describe" if metadata in HISTORY else "select"
            cell = expected(roles, action, table)
            is_hidden = (
                metadata is not None and metadata not in HISTORY and cell not in ("allowed", "refused")
            )
            if cell == "refused" or is_hidden:
                with pytest.raises(TableAccessDenied) as refused:
                    allow_table(read, RoleAccess(COMPILED, roles))
                assert "region" not in refused.value.detail
            else:
                restriction = allow_table(read, RoleAccess(COMPILED, roles))
                assert restriction.is_any == (metadata is None and cell != "allowed")
