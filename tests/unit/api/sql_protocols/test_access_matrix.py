"""Each principal at what the servers of SQL protocols share, for each table, as it is counted for HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pytest
from prometheus_client import CollectorRegistry

from api.bootstrap.settings import Settings
from api.flight.calls.call_places import CallPlaces
from api.flight.calls.flight_calls import FlightCall, Head
from api.flight.calls.flight_metrics import FlightMetrics
from api.flight.calls.identified_callers import KnownCall
from api.flight.calls.served import Served
from api.flight.connections.open_calls import OpenCalls
from api.flight.metadata.metadata_commands import Metadata
from api.flight.wire.messages import new
from api.hive_server.metadata.metadata_tables import columns_table
from api.sql_protocols.audited_calls import AuditedCalls
from api.sql_protocols.listing import Listing, NamePatterns
from api.sql_protocols.login import ProtocolCaller
from api.sql_protocols.statement_runs import StatementRequest, Statements
from service.audit.audited_statements import without_text
from service.errors.policy_errors import TableAccessDenied
from service.errors.query_errors import QueryNotFound
from service.errors.table_errors import TableNotFound
from service.model.authentication.principals import Principal, PrincipalKind
from service.model.tables.contents import SchemaEntry
from service.model.tables.tables import TableName
from service.policies.live_policies import LivePolicies
from tests.fakes.clock import FakeClock
from tests.fakes.contents import FakeContents
from tests.fakes.policed_gateway import SELECT_FROM, PolicedGateway
from tests.fakes.policy_store import FakePolicyStore
from tests.fakes.queries import NOON
from tests.unit.api.http.test_route_matrix import (
    BY_HAND,
    MISSING,
    OMITTED,
    PRINCIPALS,
    REFUSED,
    RETURNS,
    STRANGER,
    TABLES,
    UNKNOWN,
    catalog_known,
    explained,
    listed,
    read,
    schema_known,
)

NAMES = ["id", "card"]
"""The columns of each table. Masked ones keep their names."""
CALLERS = tuple(name for name in PRINCIPALS if name != STRANGER)
"""A stranger has no session of a protocol: its login fails before."""


@dataclass(frozen=True)
class World:
    gateway: PolicedGateway
    statements: Statements
    listing: Listing

    def rows(self, caller: ProtocolCaller, table: str) -> str:
        running = self.statements.start(caller, StatementRequest(sql=f"{SELECT_FROM}{table}"))
        failure = running.status().failure
        if failure is not None:
            return {"TABLE_ACCESS_DENIED": REFUSED, "TABLE_NOT_FOUND": UNKNOWN}[failure.code]
        [rows] = running.chunks()
        kinds = [
            *(["filtered"] if rows.num_rows == 1 else []),
            *(["masked"] if rows.column("card").null_count else []),
        ]
        return ", ".join(kinds) or "allowed"

    def described(self, caller: ProtocolCaller, table: str) -> str:
        self.statements.describe(caller, StatementRequest(sql=f"{SELECT_FROM}{table}"))
        return "allowed"

    def of_relations(self, caller: ProtocolCaller, table: str) -> str:
        names = [entry.name for entry in self.listing.relations(caller, NamePatterns())]
        return "allowed" if TableName.of(table) in names else OMITTED

    def of_columns(self, caller: ProtocolCaller, table: str) -> str:
        """As HiveServer2 lists columns, in which each of the table's must be as its administrator gets it."""
        found = self._hive_columns(caller, table)
        assert found in ([], self._hive_columns(caller_of("owner"), table))
        return "allowed" if [row["COLUMN_NAME"] for row in found] == NAMES else OMITTED

    def of_tables_with_schema(self, caller: ProtocolCaller, table: str) -> str:
        """As Flight SQL lists tables with their columns."""
        found = self._flight_columns(caller, table)
        assert found in ([], self._flight_columns(caller_of("owner"), table))
        if not found:
            return OMITTED
        [columns] = found
        return "allowed" if pa.ipc.read_schema(pa.py_buffer(columns)).names == NAMES else "without columns"

    def _hive_columns(self, caller: ProtocolCaller, table: str) -> list[dict[str, object]]:
        name = TableName.of(table)
        listed: list[dict[str, object]] = columns_table(
            self.listing.columns(caller, patterns_of(name))
        ).to_pylist()
        assert {str(name)} >= {
            f"{row['TABLE_CAT']}.{row['TABLE_SCHEM']}.{row['TABLE_NAME']}" for row in listed
        }
        return listed

    def _flight_columns(self, caller: ProtocolCaller, table: str) -> list[bytes]:
        name = TableName.of(table)
        asked = new(
            "CommandGetTables",
            catalog=name.catalog,
            db_schema_filter_pattern=escaped(name.schema),
            table_name_filter_pattern=escaped(name.table),
            include_schema=True,
        )
        found = Metadata(self.listing, {}).answer(served_of(caller), asked)
        return [bytes(schema) for schema in found.column("table_schema").to_pylist()]

    def of_schemas(self, caller: ProtocolCaller, table: str) -> str:
        name = TableName.of(table)
        found = self.listing.schemas(caller, NamePatterns())
        return "allowed" if (name.catalog, name.schema) in [(e.catalog, e.schema) for e in found] else OMITTED

    def of_catalogs(self, caller: ProtocolCaller, table: str) -> str:
        return "allowed" if TableName.of(table).catalog in self.listing.catalogs(caller) else OMITTED


def escaped(name: str) -> str:
    return name.replace("_", "\\_")


def patterns_of(name: TableName) -> NamePatterns:
    return NamePatterns(catalog=name.catalog, schema=escaped(name.schema), table=escaped(name.table))


def served_of(caller: ProtocolCaller) -> Served:
    call = FlightCall(
        "GET_FLIGHT_INFO",
        Head(),
        CallPlaces(1, 1),
        OpenCalls(FakeClock()),
        FlightMetrics(CollectorRegistry()),
    )
    return Served(KnownCall(caller, Head()), call, lambda: False, lambda _name, _value: None, lambda: None)


@contextmanager
def world() -> Iterator[World]:
    live = LivePolicies(FakePolicyStore(policies=BY_HAND.policies()), FakeClock())
    live.refresh()
    gateway = PolicedGateway(tuple(map(TableName.of, TABLES)), live)
    known = TableName.of(RETURNS), TableName.of("other.hr.salaries")
    gateway.contents = FakeContents([SchemaEntry(each.catalog, each.schema) for each in known])
    settings, clock = Settings(), FakeClock(NOON)
    audited = AuditedCalls(lambda: gateway, clock, is_enabled=False)
    statements = Statements(lambda: gateway, settings, clock, audited, without_text)
    try:
        yield World(gateway, statements, Listing(lambda: gateway, settings))
    finally:
        gateway.close()


def caller_of(principal: str) -> ProtocolCaller:
    return ProtocolCaller(Principal(principal, PrincipalKind.TOKEN, PRINCIPALS[principal]), "10.0.0.7")


DOORS: dict[str, tuple[Callable[[World, ProtocolCaller, str], str], Callable[[str, str], str]]] = {
    "rows": (World.rows, read),
    "description": (World.described, explained),
    "relations": (World.of_relations, listed),
    "columns": (World.of_columns, listed),
    "tables with their columns": (World.of_tables_with_schema, listed),
    "schemas": (World.of_schemas, schema_known),
    "catalogs": (World.of_catalogs, catalog_known),
}


def outcome(ask: Callable[[World, ProtocolCaller, str], str], of: World, principal: str, table: str) -> str:
    try:
        return ask(of, caller_of(principal), table)
    except TableAccessDenied:
        return REFUSED
    except TableNotFound:
        return UNKNOWN


@pytest.mark.parametrize("door", sorted(DOORS))
def test_each_principal_gets_what_the_cell_says(door: str) -> None:
    ask, expected = DOORS[door]
    with world() as found:
        wrong = [
            (principal, table, outcome(ask, found, principal, table), expected(principal, table))
            for principal in CALLERS
            for table in (*TABLES, MISSING)
            if outcome(ask, found, principal, table) != expected(principal, table)
        ]
    assert wrong == []


def test_a_result_is_its_callers_alone() -> None:
    with world() as found:
        running = found.statements.start(caller_of("owner"), StatementRequest(sql=f"{SELECT_FROM}{RETURNS}"))
        for principal in CALLERS:
            if principal != "owner":
                with pytest.raises(QueryNotFound):
                    found.gateway.queries.status(running.query_id, principal)


def test_there_are_many_cells() -> None:
    assert len(DOORS) * len(CALLERS) * len((*TABLES, MISSING)) >= 600
