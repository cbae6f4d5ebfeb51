"""Identifier fields are shown to who sees the values of all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.model.policies.decisions import FULL_ACCESS
from service.model.tables.tables import TableColumn, TableName
from service.policies.compiled_policies import CompiledPolicies, RoleAccess
from service.policies.shown_identifiers import shown_identifier_fields
from tests.fakes.catalogs import facts_of_empty_table
from tests.unit.policies.by_hand import ByHand

ORDERS = facts_of_empty_table(
    TableName("lake", "shop", "orders"),
    tuple(
        TableColumn(number, name, "long", is_required=True)
        for number, name in enumerate(("id", "a.b", "s"), 1)
    ),
)


@pytest.mark.parametrize(
    ("rules", "fields", "expected"),
    [
        ([], ("id",), ("id",)),
        (["rows:id = 1"], ("id",), ("id",)),
        (["mask:s=0"], ("id", "a.b"), ("id", "a.b")),
        (["mask:ID=0"], ("id", "a.b"), ()),
        (["mask:s=0"], ("id", "s.x"), ()),
        (["mask:a.b=0"], ("a.b",), ()),
    ],
    ids=["all", "some rows", "another mask", "masked", "inside a masked struct", "with a dot"],
)
def test_fields_are_shown_unless_one_is_masked(
    rules: list[str], fields: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    granted = [("lake.shop.*", rule) for rule in ("select", *rules)]
    access = RoleAccess(CompiledPolicies(ByHand({"role": tuple(granted)}).policies()), frozenset({"role"}))
    table = replace(ORDERS, identifier_fields=fields)
    assert shown_identifier_fields(table, access) == expected
    assert shown_identifier_fields(table, FULL_ACCESS) == fields


def test_who_may_not_read_the_table_is_not_shown_its_fields() -> None:
    rules = ByHand({"role": (("lake.shop.*", "describe"),)})
    access = RoleAccess(CompiledPolicies(rules.policies()), frozenset({"role"}))
    assert shown_identifier_fields(replace(ORDERS, identifier_fields=("id",)), access) == ()
