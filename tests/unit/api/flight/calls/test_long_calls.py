"""No connection and no stream of rows outlives the credentials that it came with."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta

import pyarrow.flight as flight
import pytest

from service.authentication.manage_keys import KeyRequest
from service.model.authentication.api_keys import MadeKey
from tests.fakes.api_keys import FakeApiKeyStore, fake_api_keys
from tests.fakes.clock import FakeClock
from tests.fakes.queries import ROWS
from tests.unit.api.flight.conftest import (
    RunningFlight,
    answer,
    bearer,
    flight_of,
    info_of,
    open_settings,
    rows_of,
    until,
)

LATER = timedelta(seconds=11)


@dataclass
class House:
    running: RunningFlight
    clock: FakeClock
    store: FakeApiKeyStore
    made: MadeKey

    def revoke(self) -> None:
        self.store.revoke(self.made.key.key_id, "ops")
        self.clock.advance(LATER)


@pytest.fixture
def house() -> Iterator[House]:
    clock = FakeClock()
    with flight_of(open_settings(api_keys=True), clock=clock) as running:
        store = FakeApiKeyStore(clock)
        keys = running.gateway._api_keys = fake_api_keys(clock, store)
        made = keys.create(KeyRequest("kim", lifetime=timedelta(days=1)), by="test")
        yield House(running, clock, store, made)


Login = Callable[[flight.FlightClient, str], flight.FlightCallOptions]


def handshake(client: flight.FlightClient, text: str) -> flight.FlightCallOptions:
    return flight.FlightCallOptions(headers=[client.authenticate_basic_token("kim", text)])


def with_each_call(client: flight.FlightClient, text: str) -> flight.FlightCallOptions:  # noqa: ARG001
    return bearer(text)


def password(client: flight.FlightClient, text: str) -> flight.FlightCallOptions:  # noqa: ARG001
    encoded = base64.b64encode(f"kim:{text}".encode())
    return flight.FlightCallOptions(headers=[(b"authorization", b"Basic " + encoded)])


LOGINS: dict[str, Login] = {"a token": with_each_call, "a password": password, "a handshake": handshake}


@pytest.mark.parametrize("login", sorted(LOGINS))
def test_no_call_is_served_after_the_key_was_revoked(house: House, login: str) -> None:
    with house.running.client() as client:
        kim = LOGINS[login](client, house.made.text)
        info = info_of(client, "CommandStatementQuery", kim, query="SELECT 1")
        house.revoke()
        for command in ("CommandGetCatalogs", "CommandGetTables", "CommandGetTableTypes"):
            with pytest.raises(flight.FlightUnauthenticatedError, match="API_KEY_REVOKED"):
                answer(client, command, kim)
        with pytest.raises(flight.FlightUnauthenticatedError, match="API_KEY_REVOKED"):
            rows_of(client, info, kim)
        until(house.running.is_idle)


@pytest.mark.parametrize("login", sorted(LOGINS))
def test_rows_that_are_waited_for_do_not_come_after_it(house: House, login: str) -> None:
    queries = house.running.queries
    queries.unfinished.add("SELECT 1")
    with house.running.client() as client:
        kim = LOGINS[login](client, house.made.text)
        info = info_of(client, "CommandStatementQuery", kim, query="SELECT 1")
        reader = client.do_get(info.endpoints[0].ticket, kim)
        until(lambda: house.running.listener.calls)
        [query_id] = queries.by_id
        house.revoke()
        queries.finish(query_id)
        with pytest.raises(flight.FlightUnauthenticatedError, match="API_KEY_REVOKED"):
            reader.read_all()
        until(house.running.is_idle)


@pytest.mark.parametrize("login", sorted(LOGINS))
def test_rows_come_to_a_caller_whose_key_is_as_it_was(house: House, login: str) -> None:
    queries = house.running.queries
    queries.unfinished.add("SELECT 1")
    with house.running.client() as client:
        kim = LOGINS[login](client, house.made.text)
        info = info_of(client, "CommandStatementQuery", kim, query="SELECT 1")
        reader = client.do_get(info.endpoints[0].ticket, kim)
        house.clock.advance(LATER)
        [query_id] = queries.by_id
        queries.finish(query_id)
        assert reader.read_all() == ROWS
