"""Roles, actions and tables, each with each: allowed, refused, filtered or masked, as counted by hand."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import combinations

import pytest

from service.errors import TableAccessDenied
from service.model.policies.actions import Action
from service.model.policies.decisions import Allowed, Refused
from service.model.policies.policies import ColumnMask, Grant, PolicySet, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from spark_session.session.table_guards import HISTORY, ReadTable, allow_table

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


def policies() -> PolicySet:
    grants: list[Grant] = []
    row_filters: list[RowFilter] = []
    masks: list[ColumnMask] = []
    for role, rules in RULES.items():
        for glob, rule in rules:
            pattern = TablePattern.parse(glob)
            kind, _, sql = rule.partition(":")
            if kind == "rows":
                row_filters.append(RowFilter(role, pattern, sql))
            elif kind == "mask":
                masks.append(ColumnMask(role, pattern, *sql.split("=")))
            else:
                grants.append(Grant(role, Action(rule.lstrip("!")), pattern, rule.startswith("!")))
    return PolicySet(1, tuple(grants), tuple(row_filters), tuple(masks))


COMPILED = CompiledPolicies(policies())


def rules_of(role: str, table: str) -> set[str]:
    """Returns the rules that cover the table; the middle of its name is the schema."""
    catalog, _, rest = table.lower().partition(".")
    schema, _, name = rest.rpartition(".")
    found = set()
    for glob, rule in RULES[role]:
        parts = zip(glob.split("."), (catalog, schema, name), strict=True)
        if all(fnmatchcase(part, of_glob) for of_glob, part in parts):
            found.add(rule)
    return found


def granting(roles: frozenset[str], action: str, table: str) -> set[str]:
    """Returns the roles that grant the action; none if one of them denies it."""
    denied = {rule[1:] for role in roles for rule in rules_of(role, table) if rule.startswith("!")}
    if denied & {action, "admin"}:
        return set()
    grants = ({str(each) for each in Action} if action == "describe" else {action, "admin"}) - denied
    return {role for role in roles if rules_of(role, table) & grants}


def expected(roles: frozenset[str], action: str, table: str) -> str:
    """Returns the cell: dead letters are read by those who see all of the table that they were sent to."""
    cell = expected_by_patterns(roles, action, table)
    source = table.lower().removesuffix("__dead_letter")
    if action == "select" and source != table.lower() and expected(roles, action, source) != "allowed":
        return "refused"
    return cell


def expected_by_patterns(roles: frozenset[str], action: str, table: str) -> str:
    found = granting(roles, action, table)
    if not found:
        return "refused"
    is_filtered = all(any(rule.startswith("rows:") for rule in rules_of(role, table)) for role in found)
    is_masked = all(any(rule.startswith("mask:") for rule in rules_of(role, table)) for role in found)
    return {(False, False): "allowed", (True, False): "filtered", (False, True): "masked"}.get(
        (is_filtered, is_masked), "filtered, masked"
    )


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
