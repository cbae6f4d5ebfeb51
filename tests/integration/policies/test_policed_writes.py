"""Streams, dead letters, maintenance, and views with a definer, of a real gateway under policies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.made_views import make_view
from tests.integration.running import RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

ROLES = ("loader", "analyst", "auditor", "boss")
TOKENS = {role: f"token-of-the-{role}-7e2b" for role in ROLES}
EVENTS, LETTERS = "lake.logs.events", "lake.logs.events__dead_letter"
SCHEMA = {"type": "struct", "fields": [{"name": "id", "type": "long"}, {"name": "kind", "type": "string"}]}
INSERT = {"grants": [{"tables": "lake.logs.*", "actions": ["insert", "create"]}]}
READ = {"grants": [{"tables": "lake.logs.*", "actions": ["select"]}]}
GRANTS: dict[str, Any] = {
    "loader": INSERT,
    "analyst": READ | {"rowFilters": [{"tables": EVENTS, "predicate": "kind = 'a'"}]},
    "auditor": READ,
    "boss": {"grants": [{"tables": "*.*.*", "actions": ["admin"]}]},
}
WITHIN_S = 90


class Policed:
    def __init__(self, gateway: RunningGateway) -> None:
        self.gateway = gateway
        self.clients = {role: gateway.client_with(token) for role, token in TOKENS.items()}

    def set(self, **changed: object) -> None:
        boss = self.clients["boss"]
        version = boss.get("/policies").json()["version"]
        roles = {role: rules for role, rules in (GRANTS | changed).items() if rules is not None}
        answer = boss.put("/policies", json={"version": version, "roles": roles})
        assert answer.status_code == 200, answer.text

    def query(self, role: str, sql: str) -> httpx.Response:
        return self.clients[role].post("/query", json={"sql": sql, "waitTimeout": "50s"})

    def count(self) -> int:
        answer = self.query("auditor", f"SELECT count(*) FROM {EVENTS}")
        assert answer.status_code == 200, answer.text
        counted: int = answer.json()["result"]["rows"][0][0]
        return counted


@pytest.fixture(scope="module")
def inbox(folder: Path) -> Path:
    made = folder / "policed-writes-inbox"
    made.mkdir()
    return made


@pytest.fixture(scope="module")
def policed(folder: Path, inbox: Path) -> Iterator[Policed]:
    settings = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_INGEST_SOURCE_PREFIXES": inbox.as_uri(),
        "SLUICE_API_TOKENS": json.dumps(
            {role: sha256(text.encode()).hexdigest() for role, text in TOKENS.items()}
        ),
        "SLUICE_PRINCIPAL_ROLES": json.dumps({role: [role] for role in TOKENS}),
        "SLUICE_ADMINS": "boss",
        "SLUICE_AUTHORIZATION": "policies",
    }
    gateway = RunningGateway.start(folder / "policed-writes", settings)
    try:
        made = Policed(gateway)
        made.set()
        boss = made.clients["boss"]
        body = {
            "table": EVENTS,
            "schema": SCHEMA,
            "create": {},
            "onError": "DEAD_LETTER",
            "records": [{"id": 1, "kind": "a"}, {"id": 2, "kind": "b"}, {"id": "secret of b", "kind": "b"}],
        }
        answer = boss.post("/ingest", json=body)
        assert answer.status_code == 200, answer.text
        yield made
    finally:
        gateway.stop()


def put(inbox: Path, name: str, *ids: int) -> None:
    hidden = inbox / f".{name}"
    hidden.write_text("".join(f'{{"id": {id_}, "kind": "s"}}\n' for id_ in ids))
    hidden.rename(inbox / name)


def test_dead_letters_are_read_by_who_sees_all_of_their_table(policed: Policed) -> None:
    sql = f"SELECT payload FROM {LETTERS}"
    seen = policed.query("auditor", sql)
    assert "secret of b" in seen.text
    for role in ("analyst", "loader"):
        refused = policed.query(role, sql)
        assert (refused.status_code, refused.json()["code"]) == (403, "TABLE_ACCESS_DENIED"), refused.text
    rows = policed.query("analyst", f"SELECT id FROM {EVENTS} ORDER BY id").json()["result"]["rows"]
    assert 2 not in [id_ for [id_] in rows]
    # A denial for the table covers its dead letters, too.
    hr = {"tables": EVENTS, "actions": ["select"]}
    policed.set(auditor=READ | {"denies": [hr]})
    assert policed.query("auditor", sql).status_code == 403
    policed.set()


def test_a_stream_ends_when_its_creator_loses_the_grant_and_goes_on_with_it(
    policed: Policed, inbox: Path
) -> None:
    before, loader = policed.count(), policed.clients["loader"]
    body = {"table": EVENTS, "source": {"directory": inbox.as_uri()}, "interval": "200ms"}
    created = loader.post("/streams", json=body)
    assert created.status_code == 201, created.text
    assert (created.json()["principal"], created.json()["roles"]) == ("loader", ["loader"])
    link = created.json()["links"]["self"]
    put(inbox, "a.ndjson", 10, 11)
    until(lambda: loader.get(link).json()["progress"]["records"] == 2, WITHIN_S)

    policed.set(loader=None)
    ended = until(lambda: (found := loader.get(link).json())["state"] == "FAILED" and found, WITHIN_S)
    assert ended["error"]["code"] == "GRANT_REVOKED"
    put(inbox, "b.ndjson", 12, 13)
    resumed = loader.post(f"{link}/resume")
    assert (resumed.status_code, resumed.json()["code"]) == (403, "TABLE_ACCESS_DENIED")
    assert policed.count() == before + 2

    policed.set()
    assert loader.post(f"{link}/resume").json()["state"] == "RUNNING"
    until(lambda: loader.get(link).json()["progress"]["records"] == 4, WITHIN_S)
    assert policed.count() == before + 4

    with closing(policed.gateway.client_with(TOKENS["auditor"])) as auditor:
        assert auditor.get("/streams?principal=loader").json()["streams"] == []
        assert auditor.delete(link).status_code == 404
    boss = policed.clients["boss"]
    assert [each["links"]["self"] for each in boss.get("/streams?principal=loader").json()["streams"]] == [
        link
    ]
    assert boss.delete(link).status_code == 204
    assert loader.get(link).json()["state"] == "STOPPED"


def test_nobody_expires_what_the_operator_keeps(policed: Policed) -> None:
    boss, path = policed.clients["boss"], f"/tables/{EVENTS}/maintenance"
    for low in ({"snapshotsOlderThanHours": 23}, {"snapshotsOlderThanHours": 0, "retainLast": 1}):
        refused = boss.post(path, json={"operations": ["expire"]} | low)
        assert (refused.status_code, refused.json()["code"]) == (422, "MAINTENANCE_BELOW_FLOOR")
    taken = boss.post(path, json={"operations": ["expire"], "snapshotsOlderThanHours": 24})
    assert taken.status_code == 202, taken.text
    link = taken.json()["links"]["self"]
    until(lambda: boss.get(link).status_code == 200, WITHIN_S)
    assert boss.get(link).json()["results"][0]["counts"]["expiredSnapshots"] == 0


VIEW, ORDERS = "lake.shop.open_orders", "lake.shop.orders"
ORDERS_SCHEMA = {
    "type": "struct",
    "fields": [{"name": "id", "type": "long"}, {"name": "region", "type": "string"}],
}
ON_VIEW = {"grants": [{"tables": VIEW, "actions": ["select"]}]}
ON_ORDERS = {"grants": [{"tables": ORDERS, "actions": ["select"]}]}
VIEW_COLUMNS = {"id": "long", "region": "string"}
OPEN = "SELECT id, region FROM orders WHERE id <> 3"


def owner(*filters: str, grants: dict[str, Any] = ON_ORDERS) -> dict[str, Any]:
    """Returns a role that lends its rights to the view."""
    rules = [{"tables": ORDERS, "predicate": predicate} for predicate in filters]
    return grants | {"rowFilters": rules, "definerViews": [{"view": VIEW}]}


@pytest.fixture(scope="module")
def view_of_orders(policed: Policed) -> Iterator[SqlCatalog]:
    """A view over a table that only its definer may read; yields its catalog."""
    records = [{"id": id_, "region": "AB"[id_ % 2]} for id_ in range(6)]
    body = {"table": ORDERS, "schema": ORDERS_SCHEMA, "create": {}, "records": records}
    answer = policed.clients["boss"].post("/ingest", json=body)
    assert answer.status_code == 200, answer.text
    with closing(embedded_catalog(policed.gateway.data_dir)) as lake:
        make_view(lake, "shop.open_orders", OPEN, VIEW_COLUMNS)
        yield lake
    policed.set()


def ids(policed: Policed, role: str, sql: str = f"SELECT id FROM {VIEW} ORDER BY id") -> list[int]:
    answer = policed.query(role, sql)
    assert answer.status_code == 200, answer.text
    return [id_ for [id_] in answer.json()["result"]["rows"]]


def refusal(policed: Policed, role: str, sql: str) -> tuple[int, str]:
    answer = policed.query(role, sql)
    return answer.status_code, answer.json()["code"]


@pytest.mark.usefixtures("view_of_orders")
def test_a_view_reads_with_the_rights_of_its_definer(policed: Policed) -> None:
    policed.set(owner=owner("region = 'A'"), analyst=ON_VIEW)
    assert ids(policed, "analyst") == [0, 2, 4]
    assert ids(policed, "analyst", f"SELECT v.id FROM {VIEW} v JOIN {VIEW} w USING (id) WHERE v.id > 0") == [
        2,
        4,
    ]
    for text in (f"SELECT * FROM {ORDERS}", f"SELECT v.id FROM {VIEW} v JOIN {ORDERS} o ON v.id = o.id"):
        assert refusal(policed, "analyst", text) == (403, "TABLE_ACCESS_DENIED")
    # Who may read the table needs a grant on the view, too.
    policed.set(owner=owner(), auditor=ON_ORDERS)
    assert refusal(policed, "auditor", f"SELECT * FROM {VIEW}") == (403, "TABLE_ACCESS_DENIED")


@pytest.mark.usefixtures("view_of_orders")
def test_a_definer_without_rights_lends_none(policed: Policed) -> None:
    policed.set(owner=owner(grants={"grants": []}), analyst=ON_VIEW)
    assert refusal(policed, "analyst", f"SELECT * FROM {VIEW}") == (403, "TABLE_ACCESS_DENIED")


@pytest.mark.usefixtures("view_of_orders")
def test_neither_plans_nor_numbers_show_what_lies_below(policed: Policed) -> None:
    policed.set(owner=owner("region = 'A'"), analyst=ON_VIEW)
    answer = policed.query("analyst", f"SELECT id FROM {VIEW}").json()
    explained = policed.clients["analyst"].get(answer["links"]["explain"])
    assert explained.status_code == 200, explained.text
    assert "region = " not in explained.text
    [scan] = [scan for scan in explained.json()["scans"] if scan["table"] == ORDERS]
    assert scan["dataFiles"] == {"total": 0, "selected": 0}
    assert scan["rows"]["read"] == 0
    boss = policed.clients["boss"]
    until(lambda: f"definer of {VIEW}" in boss.get("/audit?principal=analyst").text, WITHIN_S)


def test_a_view_that_was_replaced_reads_nothing_until_its_definition_is_imported(
    policed: Policed, view_of_orders: SqlCatalog
) -> None:
    policed.set(owner=owner(), analyst=ON_VIEW)
    before = ids(policed, "analyst")
    make_view(view_of_orders, "shop.open_orders", "SELECT id, region FROM orders", VIEW_COLUMNS, is_new=False)
    assert before == [0, 1, 2, 4, 5]
    assert refusal(policed, "analyst", f"SELECT id FROM {VIEW}") == (403, "VIEW_CHANGED")
    # The same document keeps the definition that it has.
    policed.set(owner=owner(), analyst=ON_VIEW)
    assert refusal(policed, "analyst", f"SELECT id FROM {VIEW}") == (403, "VIEW_CHANGED")
    policed.set(analyst=ON_VIEW)
    policed.set(owner=owner(), analyst=ON_VIEW)
    assert ids(policed, "analyst") == [0, 1, 2, 3, 4, 5]
