"""Policies as documents: what is written is read again as the same policies, in JSON and in YAML."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some
from pydantic import ValidationError

from api.cli.policy_file import MAX_FILE_BYTES, PolicyFileInvalid, read_policy_file, yaml_of
from api.http.schemas.administration.policy_answers import document_of, policies_answer
from api.http.schemas.administration.policy_documents import PoliciesBody
from service.model.policies.actions import Action
from service.model.policies.policies import ColumnMask, DefinerView, Grant, PolicySet, RowFilter
from service.model.policies.ready_masks import ReadyMask, expression_of, ready_mask_of
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName

CHARACTERS = some.characters(codec="utf-8", exclude_characters="\0")
ROLES = some.sampled_from(("analyst", "no", "null", "7", "a/b~c", "realm:data team", "ü"))
PATTERNS = some.sampled_from(("*.*.*", "lake.sales.*", "lake.sales.orders", "lake.a.b.c")).map(
    TablePattern.parse
)
SQL = some.text(CHARACTERS, min_size=1, max_size=20).filter(lambda text: bool(text.strip()))
VIEWS = some.sampled_from(("lake.sales.by_region", "lake.Sales.North.V", "lake.a.null")).map(TableName.of)
DEFINITIONS = some.sampled_from(("0" * 64, "3f" * 32))
COLUMNS = some.one_of(some.sampled_from(("card", "null", "on", "odd`name", "{c}")), SQL)


@some.composite
def masks(draw: some.DrawFn) -> ColumnMask:
    column = draw(COLUMNS)
    ready = some.sampled_from(ReadyMask).map(lambda mask: expression_of(mask, column))
    return ColumnMask(draw(ROLES), draw(PATTERNS), column, draw(some.one_of(ready, SQL)))


policy_sets = some.builds(
    PolicySet,
    some.integers(0, 9),
    some.lists(
        some.builds(Grant, ROLES, some.sampled_from(Action), PATTERNS, some.booleans()), max_size=9
    ).map(tuple),
    some.lists(some.builds(RowFilter, ROLES, PATTERNS, SQL), max_size=4).map(tuple),
    some.lists(masks(), max_size=4).map(tuple),
    some.lists(some.builds(DefinerView, ROLES, VIEWS, DEFINITIONS), max_size=3).map(tuple),
).map(PolicySet.in_order)


def read(text: str) -> PolicySet:
    file = read_policy_file("policies.yaml", text.encode())
    return file.body.proposal().policies


@given(policy_sets)
def test_an_export_is_imported_as_the_same_policies(policies: PolicySet) -> None:
    text = yaml_of(document_of(policies))
    file = read_policy_file("policies.yaml", text.encode())
    assert file.body.version == policies.version
    assert file.body.proposal().policies.policies == policies.policies
    assert yaml_of(document_of(policies)) == text


@given(policy_sets)
def test_an_answer_can_be_sent_again(policies: PolicySet) -> None:
    answer = policies_answer(policies).model_dump_json(by_alias=True, exclude_none=True)
    body = PoliciesBody.model_validate_json(answer)
    assert body.proposal().policies.policies == policies.policies
    assert body.version == policies.version


@given(policy_sets)
def test_each_policy_has_a_place_that_its_document_has(policies: PolicySet) -> None:
    document = json.loads(policies_answer(policies).model_dump_json(by_alias=True, exclude_none=True))
    proposal = PoliciesBody.model_validate(document).proposal()
    for policy in policies.policies:
        value = document
        for step in proposal.places[policy].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            value = value[int(name)] if isinstance(value, list) else value[name]
        assert value


def test_a_file_as_people_write_it() -> None:
    text = """
    # who may see what
    roles:
      analyst:
        grants: [{tables: Lake.Sales.*, actions: [select, describe]}]
        denies: [{tables: lake.sales.pay, actions: [select]}]
        rowFilters: [{tables: lake.sales.orders, predicate: region = 'A'}]
        masks:
          - {tables: lake.sales.orders, column: card, mask: last_four}
          - {tables: lake.sales.orders, column: name, mask: null}
          - tables: lake.sales.orders
            column: note
            expression: >-
              concat(left(note, 1),
              '…')
        definerViews:
          - {view: lake.sales.By_Region}
      empty: {}
    """
    sales, orders = TablePattern.parse("lake.sales.*"), TablePattern.parse("lake.sales.orders")
    pay = TablePattern.parse("lake.sales.pay")
    assert read(text) == PolicySet(
        grants=(
            Grant("analyst", Action.SELECT, sales),
            Grant("analyst", Action.DESCRIBE, sales),
            Grant("analyst", Action.SELECT, pay, is_denial=True),
        ),
        row_filters=(RowFilter("analyst", orders, "region = 'A'"),),
        column_masks=(
            ColumnMask("analyst", orders, "card", expression_of(ReadyMask.LAST_FOUR, "card")),
            ColumnMask("analyst", orders, "name", "if(false, `name`, NULL)"),
            ColumnMask("analyst", orders, "note", "concat(left(note, 1), '…')"),
        ),
        definer_views=(DefinerView("analyst", TableName.of("lake.sales.By_Region")),),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "p.yaml:1: /: Input should be an object"),
        ("roles: [", "p.yaml:1: it is not YAML"),
        ("roles:\n  a:\n    grant: []", "p.yaml:3: /roles/a/grant: There is no field of this name"),
        ("roles:\n  yes: {}", "p.yaml:2: /roles: a name here is not a text"),
        ("roles:\n  a: {}\n  a: {}", "p.yaml:3: /roles/a: it is there twice"),
        (
            "roles:\n  a:\n    grants:\n      - tables: lake.sales\n        actions: [select]",
            "p.yaml:4: /roles/a/grants/0/tables: tables are named like",
        ),
        (
            "roles:\n  a:\n    grants:\n      - tables: a.b.c\n        actions: [drop]",
            "p.yaml:5: /roles/a/grants/0/actions/0: Input should be 'select'",
        ),
        (
            "roles:\n  a:\n    grants:\n      - tables: a.b.c",
            "p.yaml:4: /roles/a/grants/0/actions: Field required",
        ),
        (
            "roles:\n  a:\n    masks:\n      - {tables: a.b.c, column: d}",
            "p.yaml:4: /roles/a/masks/0: a mask has either",
        ),
        (
            "roles:\n  a:\n    masks:\n      - {tables: a.b.c, column: d, mask: hash, expression: e}",
            "p.yaml:4: /roles/a/masks/0: a mask has either",
        ),
        ("roles:\n  a:\n    rowFilters:\n      - {tables: a.b.c, predicate: ' '}", "it is empty"),
        (
            "roles:\n  a:\n    definerViews:\n      - {view: lake.sales.*}",
            "p.yaml:4: /roles/a/definerViews/0/view: one view is named like catalog.schema.view, without `*`",
        ),
        (
            "roles:\n  a:\n    definerViews:\n      - {view: sales.v}",
            "p.yaml:4: /roles/a/definerViews/0/view: tables are named like",
        ),
        (
            "roles:\n  a:\n    definerViews:\n      - {view: a.b.v, definition: abc}",
            "p.yaml:4: /roles/a/definerViews/0/definition: a definition has 64 digits",
        ),
        ("definerViews: []\nroles: {}", "p.yaml:1: /definerViews: There is no field of this name"),
        ("roles:\n  a: &x {}\n  b: *x", "p.yaml:3: aliases are not accepted"),
        ("roles:\n  a: !!python/object/apply:os.system [x]", "/roles/a: Input should be an object"),
        ("roles: " + "[" * 30 + "]" * 30, "nested too deeply"),
        ("roles:\n  a: \x07", "characters that YAML does not have"),
        ("roles:\n  ' a': {}", "p.yaml:2: /roles/ a: a role's name"),
        ("version: -1\nroles: {}", "p.yaml:1: /version: Input should be greater"),
    ],
)
def test_a_fault_in_a_file_has_its_line_and_its_path(text: str, message: str) -> None:
    with pytest.raises(PolicyFileInvalid) as caught:
        read_policy_file("p.yaml", text.encode())
    assert message in caught.value.detail


def test_files_are_bounded_and_utf_8() -> None:
    with pytest.raises(PolicyFileInvalid, match="more than"):
        read_policy_file("p.yaml", b" " * (MAX_FILE_BYTES + 1))
    with pytest.raises(PolicyFileInvalid, match="not UTF-8"):
        read_policy_file("p.yaml", b"\xff\xfe\xff")


@given(SQL, some.sampled_from(ReadyMask))
def test_a_ready_made_mask_is_known_by_its_expression(column: str, mask: ReadyMask) -> None:
    assert ready_mask_of(expression_of(mask, column), column) is mask


def test_sql_that_no_store_can_hold_is_refused() -> None:
    filters = [{"tables": "a.b.c", "predicate": "a = '\ud800'"}]
    with pytest.raises(ValidationError, match="half of a character"):
        PoliciesBody.model_validate({"roles": {"a": {"rowFilters": filters}}})


@pytest.mark.parametrize("end_of_line", ["\n", "\r", "\r\n", "\x85", "\u2028", "\u2029"])
def test_ends_of_lines_stay_as_they_are(end_of_line: str) -> None:
    predicate = f"name ={end_of_line}'a{end_of_line}'"
    role = {"rowFilters": [{"tables": "lake.a.t", "predicate": predicate}]}
    text = yaml_of({"version": 1, "roles": {"analyst": role}})
    [row_filter] = read_policy_file("policies.yaml", text.encode()).body.roles["analyst"].row_filters
    assert row_filter.predicate == predicate
