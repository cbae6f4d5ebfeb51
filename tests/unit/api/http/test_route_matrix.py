"""Each principal at each route for each table: allowed, refused, filtered, masked, or not found.

The outcome of each cell is counted by hand, from the rules of roles. Every route of the OpenAPI document must
have a case here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from api.bootstrap.settings import Settings
from api.http.app import create_app
from service.authentication.manage_keys import KeyRequest
from service.model.authentication.principals import Principal, PrincipalKind
from service.model.ingest.ingest_request import ColumnNames, IngestRequest, Write
from service.model.ingest.streams import StreamState
from service.model.ingest.writing import TableKey
from service.model.operations.maintenance import MaintenanceOperation, MaintenanceRequest
from service.model.policies.decisions import FULL_ACCESS
from service.model.query.layout_advice import AdviceKind
from service.model.query.layout_trial import TrialRequest
from service.model.query.query import QueryRequest
from service.model.query.saved_queries import SavedText
from service.model.sessions.sessions import SessionView
from service.model.tables.contents import SchemaEntry
from service.model.tables.tables import TableName
from service.policies.live_policies import LivePolicies
from tests.fakes.clock import FakeClock
from tests.fakes.contents import FakeContents
from tests.fakes.maintenance import BOUNDS
from tests.fakes.policed_gateway import FOLDER, SELECT_FROM, PolicedGateway
from tests.fakes.policy_store import FakePolicyStore
from tests.unit.api.conftest import client_of
from tests.unit.policies.by_hand import ByHand

pytestmark = pytest.mark.anyio

RETURNS, LETTERS = "lake.tpcds.returns", "lake.tpcds.returns__dead_letter"
TABLES = (RETURNS, LETTERS, "lake.tpcds.item", "other.hr.salaries")
MISSING = "lake.tpcds.nope"
BY_HAND = ByHand(
    {
        "nobody": (),
        "select": ((RETURNS, "select"),),
        "insert": ((RETURNS, "insert"),),
        "modify": ((RETURNS, "modify"),),
        "describe": (("lake.*.*", "describe"),),
        "create": (("lake.tpcds.*", "create"),),
        "maintain": ((RETURNS, "maintain"),),
        "admin": ((RETURNS, "admin"),),
        "filtered": (("lake.tpcds.returns*", "select"), (RETURNS, "rows:id = 1")),
        "masked": (("lake.tpcds.*", "select"), (RETURNS, "mask:card=NULL")),
        "part": ((RETURNS, "select"), (RETURNS, "rows:id = 1"), (RETURNS, "mask:card=NULL")),
        "letters": (("lake.tpcds.*__dead_letter", "select"),),
        "reader": (("*.*.*", "select"),),
        "loader": (
            *(("*.*.*", action) for action in ("insert", "modify", "create")),
            ("lake.tpcds.returns__dead_letter", "!insert"),
        ),
        "unread": (("*.*.*", "admin"), (RETURNS, "!select")),
        "excepted": (("*.*.*", "admin"), (RETURNS, "!admin")),
        "owner": (("*.*.*", "admin"),),
    }
)
OWNER, OPERATOR, STRANGER = "owner", "ops", ""
PRINCIPALS: Mapping[str, frozenset[str]] = {
    **{role: frozenset({role}) for role in BY_HAND.rules},
    "filtered-and-select": frozenset({"filtered", "select"}),
    "insert-and-create": frozenset({"insert", "create"}),
    "reader-and-unread": frozenset({"reader", "unread"}),
    OPERATOR: frozenset(),
    STRANGER: frozenset(),
}
"""Roles by the principal's name. The operator is one by the settings. A stranger has no token."""
KNOWN_TO: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("nobody", OPERATOR, STRANGER), ()),
    **dict.fromkeys(
        ("reader", "loader", "unread", "excepted", OWNER, "reader-and-unread"), ("lake", "other")
    ),
}
"""The catalogs that a principal may know of; all others know `lake`."""
REFUSED, UNKNOWN, OMITTED = "refused", "not found", "left out"
SETTINGS = Settings(
    api_tokens={name: sha256(name.encode() * 9).hexdigest() for name in PRINCIPALS if name},
    principal_roles={name: sorted(roles) for name, roles in PRINCIPALS.items() if roles},
    admins=(OPERATOR,),
    api_keys=True,
)


@dataclass
class World:
    """The app over a gateway where the owner has a query, an ingest, a stream and a maintenance a table."""

    client: httpx.AsyncClient
    gateway: PolicedGateway
    key_id: str = ""
    ids: dict[tuple[str, str], UUID] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)

    def prepare(self) -> None:
        for text in TABLES:
            name = TableName.of(text)
            query = QueryRequest(f"{SELECT_FROM}{text}")
            self.ids["query", text] = self.gateway.queries.submit(query, OWNER, FULL_ACCESS).query_id
            write = Write(TableKey(name), [{"id": 1, "card": "1"}], ColumnNames(("id", "card")))
            accepted = self.gateway.real_ingests.accept(IngestRequest((write,), ""), OWNER, FULL_ACCESS)
            accepted.settled.result(20)
            self.ids["ingest", text] = accepted.record.ingest_id
            body = {"table": text, "source": {"directory": FOLDER}}
            stream = self.gateway.streams.create("", body, Principal(OWNER, PrincipalKind.TOKEN), FULL_ACCESS)
            self.ids["stream", text] = stream.stream_id
            asked = MaintenanceRequest(TableKey(name), (MaintenanceOperation.COMPACT,), BOUNDS)
            self.ids["maintenance", text] = self.gateway.maintenances.ask(asked, OWNER).maintenance_id
            trial = TrialRequest(name, AdviceKind.SORT)
            self.ids["trial", text] = self.gateway.layout_trials.ask(trial, OWNER, FULL_ACCESS).trial_id
            self.gateway.layout_trials.wait()
        self.gateway.maintenances.run_open()
        self.key_id = self.gateway.api_keys.create(KeyRequest("reports"), OPERATOR).key.key_id

    def id_of(self, kind: str, table: str) -> UUID:
        return self.ids.get((kind, table), UUID(int=0))

    async def send(
        self, method: str, path: str, principal: str, body: object = None, **headers: str
    ) -> httpx.Response:
        if principal != STRANGER:
            headers["Authorization"] = f"Bearer {principal * 9}"
        return await self.client.request(method, path, headers=headers, json=body)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    live = LivePolicies(FakePolicyStore(policies=BY_HAND.policies()), FakeClock())
    live.refresh()
    gateway = PolicedGateway(tuple(map(TableName.of, TABLES)), live)
    async with client_of(create_app(SETTINGS, lambda: gateway)) as client:
        found = World(client, gateway)
        found.prepare()
        yield found


# ---- outcomes by hand -----------------------------------------------------------------------------


def cell(action: str) -> Callable[[str, str], str]:
    """Returns the outcome for a route that needs the action, and then the table."""

    def found(principal: str, table: str) -> str:
        if BY_HAND.cell(PRINCIPALS[principal], action, table) == REFUSED:
            return REFUSED
        return UNKNOWN if table == MISSING else "allowed"

    return found


def of_both(*actions: str) -> Callable[[str, str], str]:
    def found(principal: str, table: str) -> str:
        each = [cell(action)(principal, table) for action in actions]
        # The right to append is asked before the table, and the right to change it after.
        first = each[0]
        if first != "allowed":
            return first
        return REFUSED if REFUSED in each else first

    return found


def read(principal: str, table: str) -> str:
    roles = PRINCIPALS[principal]
    if table == MISSING:
        return REFUSED if BY_HAND.cell(roles, "describe", table) == REFUSED else UNKNOWN
    return BY_HAND.cell(roles, "select", table)


def explained(principal: str, table: str) -> str:
    found = read(principal, table)
    return found if found in (REFUSED, UNKNOWN) else "allowed"


def shown(principal: str, table: str) -> str:
    found = cell("describe")(principal, table)
    if found != "allowed":
        return found
    rows = BY_HAND.cell(PRINCIPALS[principal], "select", table)
    return "filtered" if rows == REFUSED or "filtered" in rows else "allowed"


def listed(principal: str, table: str) -> str:
    return "allowed" if cell("describe")(principal, table) == "allowed" else OMITTED


def dead_letters(principal: str, table: str) -> str:
    found = cell("insert")(principal, table)
    if found == REFUSED or BY_HAND.is_denied(PRINCIPALS[principal], "insert", f"{table}__dead_letter"):
        return REFUSED
    return found


def created(principal: str, table: str) -> str:
    found = cell("insert")(principal, table)
    if table != MISSING or found == REFUSED:
        return found
    return REFUSED if BY_HAND.cell(PRINCIPALS[principal], "create", table) == REFUSED else "allowed"


def summed_up(principal: str, table: str) -> str:
    if table == MISSING:
        return OMITTED
    roles = PRINCIPALS[principal]
    rows = BY_HAND.cell(roles, "select", table)
    if rows != REFUSED:
        return OMITTED if "filtered" in rows else "allowed"
    if table == LETTERS and summed_up(principal, RETURNS) == OMITTED:
        return OMITTED
    return OMITTED if BY_HAND.cell(roles, "describe", table) == REFUSED else "allowed"


def pruned(principal: str, table: str) -> str:
    rows = BY_HAND.cell(PRINCIPALS[principal], "select", table)
    return OMITTED if table == MISSING or rows == REFUSED or "filtered" in rows else "allowed"


def advised(principal: str, table: str) -> str:
    rows = BY_HAND.cell(PRINCIPALS[principal], "select", table)
    if rows == REFUSED or "filtered" in rows:
        return REFUSED
    return UNKNOWN if table == MISSING else "allowed"


def advised_columns(principal: str, table: str) -> str:
    """Returns the columns that a principal learns something of from advice."""
    found = advised(principal, table)
    rows = BY_HAND.cell(PRINCIPALS[principal], "select", table)
    return {"allowed": "card, id", "masked": "id"}[rows] if found == "allowed" else found


def tried(principal: str, table: str) -> str:
    if REFUSED in (cell("maintain")(principal, table), advised(principal, table)):
        return REFUSED
    return UNKNOWN if table == MISSING else "allowed"


def listed_trials(principal: str, table: str) -> str:
    # A table without trials has an empty list, whether or not it exists.
    return REFUSED if advised(principal, table) == REFUSED else "allowed"


def own(otherwise: str) -> Callable[[str, str], str]:
    return lambda principal, table: "allowed" if principal == OWNER and table != MISSING else otherwise


def of_administrators(otherwise: str) -> Callable[[str, str], str]:
    """Returns the outcome for what belongs to the owner, and is also seen by who administers all tables."""

    def found(principal: str, table: str) -> str:
        is_admin = BY_HAND.administers_all(PRINCIPALS[principal])
        return "allowed" if is_admin and table != MISSING else otherwise

    return found


def described_maintenance(principal: str, table: str) -> str:
    # A table without maintenance has an empty list, whether or not it exists.
    return REFUSED if cell("describe")(principal, table) == REFUSED else "allowed"


def viewed(principal: str, table: str) -> str:
    return explained(principal, table) if principal == OWNER else UNKNOWN


def catalog_known(principal: str, table: str) -> str:
    catalog = TableName.of(table).catalog
    return "allowed" if catalog in KNOWN_TO.get(principal, ("lake",)) else OMITTED


def schema_known(principal: str, table: str) -> str:
    # Every role that names a table of a catalog names one of its only schema, too.
    return catalog_known(principal, table)


def by_policies(principal: str, table: str) -> str:  # noqa: ARG001
    return "allowed" if BY_HAND.administers_all(PRINCIPALS[principal]) else REFUSED


def by_settings(principal: str, table: str) -> str:  # noqa: ARG001
    return "allowed" if principal == OPERATOR else REFUSED


def by_either(principal: str, table: str) -> str:
    return "allowed" if principal == OPERATOR else by_policies(principal, table)


def everyone(principal: str, table: str) -> str:  # noqa: ARG001
    return "allowed"


# ---- what is sent, and what came of it ------------------------------------------------------------


def outcome(answer: httpx.Response) -> str:
    by_status = {401: "unauthenticated", 403: REFUSED, 404: UNKNOWN}
    assert answer.is_success or answer.status_code in by_status, answer.text
    return by_status.get(answer.status_code, "allowed")


Ask = Callable[[World, str, str], Awaitable[str]]


def at(method: str, path: str, body: Callable[[str], object] | object = None, **headers: str) -> Ask:
    """Returns what sends a request about the table, whose outcome is its status."""

    async def ask(world: World, principal: str, table: str) -> str:
        made = body(table) if callable(body) else body
        return outcome(await world.send(method, path.format(table=table), principal, made, **headers))

    return ask


def of(kind: str, method: str, path: str) -> Ask:
    """Returns what sends a request about the owner's query, ingest, stream or maintenance of the table."""

    async def ask(world: World, principal: str, table: str) -> str:
        place = path.format(id=world.id_of(kind, table), table=table)
        return outcome(await world.send(method, place, principal))

    return ask


def of_session(method: str, path: str) -> Ask:
    """Returns what sends a request about a session of the owner, which has the view `v`."""

    async def ask(world: World, principal: str, table: str) -> str:  # noqa: ARG001
        sessions = world.gateway.sessions
        session_id = sessions.create(OWNER, None, None, {}).session_id
        sessions.put_view(session_id, OWNER, SessionView("v", "SELECT 1"))
        return outcome(await world.send(method, path.format(id=session_id), principal))

    return ask


def of_saved_query(method: str, *, is_shared: bool, body: object = None, **headers: str) -> Ask:
    """Returns what sends a request about a saved query of the owner."""

    async def ask(world: World, principal: str, table: str) -> str:  # noqa: ARG001
        text = SavedText(name="Sales", sql="SELECT 1", is_shared=is_shared)
        saved = world.gateway.saved_queries.save(OWNER, text)
        path = f"/saved-queries/{saved.saved_query_id}"
        return outcome(await world.send(method, path, principal, body, **headers))

    return ask


def saved_query_in_list(*, is_shared: bool) -> Ask:
    """Returns what looks for a saved query of the owner in a list."""

    async def ask(world: World, principal: str, table: str) -> str:  # noqa: ARG001
        name = f"Sales {next(world.numbers)}"
        world.gateway.saved_queries.save(OWNER, SavedText(name=name, sql="SELECT 1", is_shared=is_shared))
        answer = await world.send("GET", f"/saved-queries?name={name}", principal)
        found = outcome(answer)
        return OMITTED if found == "allowed" and f'"{name}"' not in answer.text else found

    return ask


def catalog_of(path: str) -> Ask:
    """Returns what looks for the table's catalog, or its schema, in a list."""

    async def ask(world: World, principal: str, table: str) -> str:
        name = TableName.of(table)
        known = TableName.of(RETURNS), TableName.of("other.hr.salaries")
        schemas = [SchemaEntry(each.catalog, each.schema) for each in known]
        world.gateway.contents = FakeContents(schemas)
        answer = await world.send("GET", path, principal)
        sought = f'"{name.catalog}"' if path == "/catalogs" else f'"schema":"{name.schema}"'
        found = outcome(answer)
        return OMITTED if found == "allowed" and sought not in answer.text else found

    return ask


async def put_view(world: World, principal: str, table: str) -> str:
    sessions = world.gateway.sessions
    session_id = sessions.create(OWNER, None, None, {}).session_id
    body = {"sql": f"{SELECT_FROM}{table}"}
    answer = await world.send("PUT", f"/sessions/{session_id}/views/v", principal, body)
    sessions.end(session_id, OWNER)
    return outcome(answer)


def seen_in(path: str, kind: str | None = None) -> Ask:
    """Returns what looks for the table, or for what the owner has of this kind, in a list."""

    async def ask(world: World, principal: str, table: str) -> str:
        answer = await world.send("GET", path, principal)
        sought = f'"{table}"' if kind is None else str(world.id_of(kind, table))
        found = outcome(answer)
        return OMITTED if found == "allowed" and sought not in answer.text else found

    return ask


async def rows_of(world: World, principal: str, table: str) -> str:
    answer = await world.send("POST", "/query", principal, {"sql": f"{SELECT_FROM}{table}"})
    if not answer.is_success:
        return outcome(answer)
    # The caller's own result, chunk and explanation say nothing else.
    query_id, rows = answer.json()["queryId"], answer.json()["result"]["rows"]
    again = await world.send("GET", f"/query/{query_id}", principal)
    chunk = await world.send("GET", f"/query/{query_id}/chunks/0", principal)
    page = await world.send("GET", f"/explain/{query_id}", principal, Accept="text/html")
    assert again.json()["result"]["rows"] == chunk.json()["rows"] == rows
    assert page.headers["Content-Type"].startswith("text/html")
    kinds = ["filtered"] if len(rows) == 1 else []
    kinds += ["masked"] if rows[0][1] is None else []
    return ", ".join(kinds) or "allowed"


async def canceled_by_request(world: World, principal: str, table: str) -> str:
    request_id = UUID(int=0)
    if table != MISSING:
        request_id = uuid4()
        asked = QueryRequest(f"{SELECT_FROM}{table}", request_id=request_id)
        world.gateway.queries.submit(asked, OWNER, FULL_ACCESS)
    return outcome(await world.send("DELETE", f"/query?requestId={request_id}", principal))


async def listed_columns(world: World, principal: str, table: str) -> str:
    """Asks for the columns of all tables. A masked column has its name, and nothing else than any other."""
    answer = await world.send("GET", "/tables?columns=true", principal)
    if not answer.is_success:
        return outcome(answer)
    found = [listed for listed in answer.json()["tables"] if listed["name"] == table]
    assert all(listed["columns"] == COLUMN_ANSWERS for listed in found)
    return "allowed" if found else OMITTED


async def table_columns(world: World, principal: str, table: str) -> str:
    """Asks for one table. Only who sees a column's values in all rows learns how its files lie."""
    answer = await world.send("GET", f"/tables/{table}", principal)
    if not answer.is_success:
        return outcome(answer)
    assert answer.json()["columns"] == COLUMN_ANSWERS
    return ", ".join(each["column"] for each in answer.json()["acceptedFilterColumns"])


def by_files(principal: str, table: str) -> str:
    """Returns the columns that a principal learns something of from files, if it sees the table at all."""
    found = cell("describe")(principal, table)
    if found != "allowed":
        return found
    rows = BY_HAND.cell(PRINCIPALS[principal], "select", table)
    return {"allowed": "id, card", "masked": "id"}.get(rows, "")


async def columns_in_advice(world: World, principal: str, table: str) -> str:
    """Asks for advice. Nobody learns the values that others have looked for."""
    answer = await world.send("GET", f"/advice/{table}", principal)
    if not answer.is_success:
        return outcome(answer)
    assert "4111" not in answer.text
    return ", ".join(each["column"] for each in answer.json()["workload"]["columns"])


async def facts_of(world: World, principal: str, table: str) -> str:
    answer = await world.send("GET", f"/tables/{table}", principal)
    found = outcome(answer)
    return "filtered" if found == "allowed" and answer.json()["dataFileCount"] == 0 else found


async def maintained(world: World, principal: str, table: str) -> str:
    answer = await world.send("POST", f"/tables/{table}/maintenance", principal, {"operations": ["compact"]})
    world.gateway.maintenances.run_open()
    return outcome(answer)


async def tried_advice(world: World, principal: str, table: str) -> str:
    answer = await world.send("POST", f"/advice/{table}/trials", principal, {"kind": "SORT"})
    world.gateway.layout_trials.wait()
    return outcome(answer)


def ingested(**fields: Any) -> Ask:
    async def ask(world: World, principal: str, table: str) -> str:
        body = {"table": table, "records": [{"id": 1}], "writeSchema": ["id"]} | fields
        if "schema" in fields:
            # A field that the table does not have yet, whatever was sent before.
            new = {"name": f"more_{next(world.numbers)}", "type": "string"}
            wanted = [{"name": "id", "type": "long"}, *([new] if fields.get("evolve") else [])]
            body["schema"] = {"type": "struct", "fields": wanted}
        answer = await world.send("POST", "/ingest", principal, body)
        if table == MISSING and answer.is_success:
            world.gateway.real_ingests.tables.drop(TableName.of(MISSING))
        return outcome(answer)

    return ask


async def streamed(world: World, principal: str, table: str) -> str:
    body = {"table": table, "source": {"directory": FOLDER}}
    return outcome(await world.send("POST", "/streams", principal, body))


async def resumed(world: World, principal: str, table: str) -> str:
    stream_id = world.id_of("stream", table)
    if stream_id in world.gateway.stream_store.records:
        world.gateway.stream_store.move(stream_id, StreamState.STOPPED)
    return await of("stream", "POST", "/streams/{id}/resume")(world, principal, table)


async def key_revoked(world: World, principal: str, table: str) -> str:  # noqa: ARG001
    return outcome(await world.send("DELETE", f"/keys/{world.key_id}", principal))


@dataclass(frozen=True)
class Case:
    route: str
    ask: Ask
    expected: Callable[[str, str], str]
    variant: str = ""
    is_about_tables: bool = True

    @property
    def name(self) -> str:
        return f"{self.route} {self.variant}".strip()


def alone(route: str, ask: Ask, expected: Callable[[str, str], str], variant: str = "") -> Case:
    """Returns the case of a route that no table matters for."""
    return Case(route, ask, expected, variant, is_about_tables=False)


COLUMNS = {"schema": None}
SAVED = {"name": "Sales", "sql": "SELECT 1"}
COLUMN_ANSWERS = [
    {"fieldId": at, "name": name, "type": kind, "required": False, "doc": None}
    for at, name, kind in ((1, "id", "long"), (2, "card", "string"))
]
CASES = (
    Case("POST /query", rows_of, read),
    Case("GET /query", seen_in("/query", "query"), own(OMITTED)),
    Case("GET /query", seen_in(f"/query?principal={OWNER}", "query"), of_administrators(OMITTED), "of one"),
    Case("GET /query", seen_in("/query?principal=*", "query"), of_administrators(OMITTED), "of all"),
    Case("GET /query/{query_id}", of("query", "GET", "/query/{id}"), own(UNKNOWN)),
    Case("DELETE /query/{query_id}", of("query", "DELETE", "/query/{id}"), of_administrators(UNKNOWN)),
    Case("DELETE /query", canceled_by_request, own(UNKNOWN)),
    Case("GET /query/{query_id}/events", of("query", "GET", "/query/{id}/events"), own(UNKNOWN)),
    Case("GET /query/{query_id}/result", of("query", "GET", "/query/{id}/result"), own(UNKNOWN)),
    Case("GET /query/{query_id}/chunks/{index}", of("query", "GET", "/query/{id}/chunks/0"), own(UNKNOWN)),
    Case("GET /explain/{query_id}", of("query", "GET", "/explain/{id}"), own(UNKNOWN)),
    Case("POST /explain", at("POST", "/explain", lambda t: {"sql": f"{SELECT_FROM}{t}"}), explained),
    Case(
        "POST /explain",
        at("POST", "/explain", lambda t: {"sql": f"{SELECT_FROM}{t}"}, Accept="text/html"),
        explained,
        "as a page",
    ),
    Case("POST /describe", at("POST", "/describe", lambda t: {"sql": f"{SELECT_FROM}{t}"}), explained),
    alone("POST /sessions", at("POST", "/sessions", {}), everyone),
    alone("GET /sessions/{session_id}", of_session("GET", "/sessions/{id}"), own(UNKNOWN)),
    alone("DELETE /sessions/{session_id}", of_session("DELETE", "/sessions/{id}"), own(UNKNOWN)),
    Case("PUT /sessions/{session_id}/views/{name}", put_view, viewed),
    alone(
        "DELETE /sessions/{session_id}/views/{name}",
        of_session("DELETE", "/sessions/{id}/views/v"),
        own(UNKNOWN),
    ),
    alone("POST /saved-queries", at("POST", "/saved-queries", SAVED), everyone),
    alone("GET /saved-queries", saved_query_in_list(is_shared=False), own(OMITTED)),
    alone("GET /saved-queries", saved_query_in_list(is_shared=True), everyone, "of all"),
    alone("GET /saved-queries/{saved_query_id}", of_saved_query("GET", is_shared=False), own(UNKNOWN)),
    alone(
        "GET /saved-queries/{saved_query_id}",
        of_saved_query("GET", is_shared=True),
        everyone,
        "that is shared",
    ),
    alone(
        "PUT /saved-queries/{saved_query_id}",
        of_saved_query("PUT", is_shared=False, body=SAVED, **{"If-Match": '"1"'}),
        own(UNKNOWN),
    ),
    alone(
        "PUT /saved-queries/{saved_query_id}",
        of_saved_query("PUT", is_shared=True, body=SAVED, **{"If-Match": '"1"'}),
        own(REFUSED),
        "that is shared",
    ),
    alone("DELETE /saved-queries/{saved_query_id}", of_saved_query("DELETE", is_shared=False), own(UNKNOWN)),
    alone(
        "DELETE /saved-queries/{saved_query_id}",
        of_saved_query("DELETE", is_shared=True),
        own(REFUSED),
        "that is shared",
    ),
    Case("POST /ingest", ingested(), cell("insert")),
    Case("POST /ingest", ingested(mode="upsert", equalityFields=["id"]), cell("modify"), "to upsert"),
    Case("POST /ingest", ingested(evolve=True, **COLUMNS), of_both("insert", "modify"), "to evolve"),
    Case("POST /ingest", ingested(create={}, **COLUMNS), created, "to create"),
    Case(
        "POST /ingest",
        ingested(records=[{"id": "x"}], onError="DEAD_LETTER"),
        dead_letters,
        "of dead letters",
    ),
    Case("GET /ingest", seen_in("/ingest", "ingest"), own(OMITTED)),
    Case("GET /ingest/summary", seen_in("/ingest/summary"), summed_up),
    Case("GET /ingest/{ingest_id}", of("ingest", "GET", "/ingest/{id}"), own(UNKNOWN)),
    Case("POST /streams", streamed, cell("insert")),
    Case("GET /streams", seen_in("/streams", "stream"), own(OMITTED)),
    Case("GET /streams/{stream_id}", of("stream", "GET", "/streams/{id}"), own(UNKNOWN)),
    Case("GET /streams", seen_in("/streams?principal=*", "stream"), of_administrators(OMITTED), "of all"),
    Case("DELETE /streams/{stream_id}", of("stream", "DELETE", "/streams/{id}"), of_administrators(UNKNOWN)),
    Case("POST /streams/{stream_id}/resume", resumed, own(UNKNOWN)),
    Case("GET /pruning/summary", seen_in("/pruning/summary"), pruned),
    Case("GET /advice/{name}", at("GET", "/advice/{table}"), advised),
    Case("GET /advice/{name}", columns_in_advice, advised_columns, "and its columns"),
    Case("POST /advice/{name}/trials", tried_advice, tried),
    Case("GET /advice/{name}/trials", at("GET", "/advice/{table}/trials"), listed_trials),
    Case("GET /advice/{name}/trials/{trial_id}", of("trial", "GET", "/advice/{table}/trials/{id}"), advised),
    Case(
        "DELETE /advice/{name}/trials/{trial_id}",
        of("trial", "DELETE", "/advice/{table}/trials/{id}"),
        tried,
    ),
    Case("GET /catalogs", catalog_of("/catalogs"), catalog_known),
    Case("GET /schemas", catalog_of("/schemas"), schema_known),
    Case("GET /tables", seen_in("/tables"), listed),
    Case("GET /tables", seen_in("/tables?columns=true"), listed, "with columns"),
    Case("GET /tables", listed_columns, listed, "and their columns"),
    Case("GET /tables/{name}", facts_of, shown),
    Case("GET /tables/{name}", table_columns, by_files, "and its columns"),
    Case("POST /tables/{name}/maintenance", maintained, cell("maintain")),
    Case("GET /tables/{name}/maintenance", at("GET", "/tables/{table}/maintenance"), described_maintenance),
    Case(
        "GET /tables/{name}/maintenance/{maintenance_id}",
        of("maintenance", "GET", "/tables/{table}/maintenance/{id}"),
        cell("describe"),
    ),
    alone("GET /filters", at("GET", "/filters"), by_policies),
    alone("DELETE /filters", at("DELETE", "/filters"), by_policies),
    alone("DELETE /filters/{fingerprint}", at("DELETE", "/filters/abc"), by_policies),
    alone("GET /caches", at("GET", "/caches"), by_policies),
    alone("DELETE /caches/{name}", at("DELETE", "/caches/tables"), by_policies),
    alone("GET /replicas", at("GET", "/replicas"), by_policies),
    alone("GET /audit", at("GET", "/audit"), by_settings),
    alone("POST /keys", at("POST", "/keys", {"principal": "reports", "expiresInDays": 1}), by_settings),
    alone("GET /keys", at("GET", "/keys"), by_settings),
    alone("DELETE /keys/{key_id}", key_revoked, by_settings),
    alone("GET /policies", at("GET", "/policies"), by_either),
    alone(
        "PUT /policies",
        at("PUT", "/policies?dryRun=true", {"roles": {}}, **{"If-Match": '"0"'}),
        by_either,
    ),
    alone("GET /policies/changes", at("GET", "/policies/changes"), by_either),
    alone(
        "POST /policies/decide",
        at("POST", "/policies/decide", {"roles": ["a"], "action": "select", "table": RETURNS}),
        by_either,
    ),
    alone("GET /metrics", at("GET", "/metrics"), everyone),
    alone("GET /healthz", at("GET", "/healthz"), everyone),
    alone("GET /livez", at("GET", "/livez"), everyone),
    alone("GET /readyz", at("GET", "/readyz"), everyone),
)
OPEN = {"GET /healthz", "GET /livez", "GET /readyz"}


def cells_of(case: Case) -> Iterator[tuple[str, str]]:
    for principal in PRINCIPALS:
        for table in (*TABLES, MISSING) if case.is_about_tables else (RETURNS,):
            yield principal, table


def expected(case: Case, principal: str, table: str) -> str:
    if principal == STRANGER and case.route not in OPEN:
        return "unauthenticated"
    return case.expected(principal, table)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_each_principal_gets_what_the_cell_says(case: Case, world: World) -> None:
    wrong = []
    for principal, table in cells_of(case):
        found = await case.ask(world, principal, table)
        if found != expected(case, principal, table):
            wrong.append((principal, table, found, expected(case, principal, table)))
    assert wrong == []


def test_every_route_has_a_case() -> None:
    document = create_app(SETTINGS, lambda: None).openapi()  # type: ignore[arg-type,return-value]
    routes = {
        f"{method.upper()} {path}" for path, operations in document["paths"].items() for method in operations
    }
    assert {case.route for case in CASES} == routes


def test_there_are_thousands_of_cells_of_every_outcome() -> None:
    cells = [(case, *rest) for case in CASES for rest in cells_of(case)]
    assert len(cells) >= 2_000
    outcomes = {expected(*each) for each in cells}
    assert outcomes >= {"allowed", REFUSED, "filtered", "masked", UNKNOWN, OMITTED, "unauthenticated"}
