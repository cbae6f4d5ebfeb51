"""A view with the rights of a definer loses them when SQL replaces it, and its text is its creator's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.sql_writes.conftest import ROLES, Writing

pytestmark = pytest.mark.integration
SECRET = "lake.hidden.s"


def put_roles(writing: Writing, roles: dict[str, Any]) -> None:
    boss = writing.clients["boss"]
    body = {"version": boss.get("/policies").json()["version"], "roles": roles}
    answer = boss.put("/policies", json=body)
    assert answer.status_code == 200, answer.text


@pytest.fixture
def view(writing: Writing) -> Iterator[str]:
    """A view that shows the ids of a table which its readers may not read, with the rights of a role."""
    name = f"lake.w.d_{uuid4().hex[:12]}"
    writing.done("boss", f"CREATE VIEW {name} AS SELECT id FROM {SECRET}")
    owner = {"grants": [{"tables": "lake.*.*", "actions": ["select"]}], "definerViews": [{"view": name}]}
    put_roles(writing, ROLES | {"owner": owner})
    yield name
    put_roles(writing, ROLES)
    writing.done("boss", f"DROP VIEW IF EXISTS {name}")


def test_whoever_replaces_it_takes_its_rights_away(writing: Writing, view: str) -> None:
    rows = f"SELECT * FROM {view}"
    assert writing.done("reader", rows)["result"]["rowCount"] == 2
    # The right to replace it is not the right to read more through it.
    more = f"CREATE OR REPLACE VIEW {view} AS SELECT kind FROM {SECRET}"
    assert writing.refusal("changer", more) == "TABLE_ACCESS_DENIED"
    writing.done("changer", f"CREATE OR REPLACE VIEW {view} AS SELECT 1 AS id")
    assert writing.refusal("reader", rows) == "VIEW_CHANGED"
    # Whoever may read the table hands nothing on either.
    writing.done("boss", more)
    assert writing.refusal("reader", rows) == "VIEW_CHANGED"
    # dbt makes each view again, with the same text.
    writing.done("boss", f"CREATE OR REPLACE VIEW {view} AS SELECT id FROM {SECRET}")
    assert writing.done("reader", rows)["result"]["rowCount"] == 2


def test_a_view_over_it_hands_on_what_it_shows_and_no_more(writing: Writing, view: str) -> None:
    above = f"{view}_above"
    writing.done("changer", f"CREATE VIEW {above} AS SELECT id + 1 AS next FROM {view}")
    assert writing.done("reader", f"SELECT max(next) FROM {above}")["result"]["rows"] == [[3]]
    put_roles(writing, ROLES)
    assert writing.refusal("reader", f"SELECT * FROM {above}") == "TABLE_ACCESS_DENIED"
    writing.done("changer", f"DROP VIEW {above}")
