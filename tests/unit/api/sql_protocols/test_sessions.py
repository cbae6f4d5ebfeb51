"""Tests the sessions of SQL protocols, and who may have them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import pytest
from prometheus_client import CollectorRegistry

from api.bootstrap.settings import Settings
from api.http.authentication.building import authenticator_of
from api.http.authentication.logins import Logins
from api.http.gateway_access import GatewayAccess
from api.http.middleware.authentication_metrics import AuthenticationMetrics
from api.sql_protocols.login import Login
from service.errors.credential_errors import CredentialRefused, TooManyFailures
from service.errors.session_errors import SessionNotFound, SessionSettingRefused
from service.errors.statement_errors import SqlInvalid
from service.model.authentication.principals import NOBODY
from service.model.tables.contents import SchemaEntry
from tests.fakes.clock import FakeClock
from tests.fakes.contents import FakeContents
from tests.fakes.queries import NOON
from tests.unit.api.sql_protocols.conftest import KIM, LOU, Parts

TOKENS: Mapping[str, str] = {"tess": hashlib.sha256(b"tess's").hexdigest()}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def with_schemas(parts: Parts, *names: str) -> Parts:
    parts.gateway.contents = FakeContents([SchemaEntry("lake", name) for name in names])
    return parts


def test_a_session_without_names_has_the_operators(parts: Parts) -> None:
    values = parts.sessions.open(KIM).values
    assert (values.catalog, values.schema) == (None, None)


def test_the_default_schema_is_the_operators_unless_there_is_one(parts: Parts) -> None:
    assert parts.sessions.open(KIM, schema="default").values.schema == "tpcds"
    with_schemas(parts, "default")
    assert parts.sessions.open(KIM, schema="default").values.schema == "default"


def test_a_session_may_use_a_schema_that_exists_in_any_case(parts: Parts) -> None:
    with_schemas(parts, "tpcds", "logs")
    session = parts.sessions.open(KIM)
    assert parts.sessions.use(KIM, session.session_id, None, "LOGS").values.schema == "logs"
    with pytest.raises(SqlInvalid):
        parts.sessions.use(KIM, session.session_id, None, "nothing")
    with pytest.raises(SqlInvalid):
        parts.sessions.use(KIM, session.session_id, "nowhere", None)


def test_settings_outside_the_list_are_refused(parts: Parts) -> None:
    with pytest.raises(SessionSettingRefused):
        parts.sessions.open(KIM, settings={"spark.sql.caseSensitive": "true"})


def test_a_session_belongs_to_its_caller_and_ends_once(parts: Parts) -> None:
    session = parts.sessions.open(KIM)
    with pytest.raises(SessionNotFound):
        parts.sessions.values(LOU, session.session_id)
    parts.sessions.close(LOU, session.session_id)
    parts.sessions.values(KIM, session.session_id)
    parts.sessions.close(KIM, session.session_id)
    parts.sessions.close(KIM, session.session_id)


def login_of(settings: Settings) -> Login:
    clock = FakeClock(NOON)
    access = GatewayAccess(lambda: pytest.fail("not opened"), lambda _: None)
    metrics = AuthenticationMetrics(CollectorRegistry())
    return Login(Logins(authenticator_of(settings, access, clock, None), metrics))


@pytest.mark.anyio
async def test_a_password_is_a_token_and_its_name_may_be_left_out() -> None:
    login = login_of(Settings(api_tokens=dict(TOKENS)))
    for name in ("tess", "token", ""):
        caller = await login.by_password(name, "tess's", "10.0.0.7")
        assert (caller.name, caller.peer) == ("tess", "10.0.0.7")
    assert (await login.by_bearer("tess's", "10.0.0.7")).name == "tess"


@pytest.mark.anyio
@pytest.mark.parametrize(("name", "password"), [("tess", "wrong"), ("tess", ""), ("tom", "tess's")])
async def test_wrong_passwords_and_other_names_are_refused(name: str, password: str) -> None:
    login = login_of(Settings(api_tokens=dict(TOKENS)))
    with pytest.raises(CredentialRefused):
        await login.by_password(name, password, "10.0.0.7")


@pytest.mark.anyio
async def test_guesses_are_slowed_down() -> None:
    login = login_of(Settings(api_tokens=dict(TOKENS), auth_failures_per_minute=2))
    for _ in range(2):
        with pytest.raises(CredentialRefused):
            await login.by_password("tess", "guess", "10.0.0.7")
    with pytest.raises(TooManyFailures):
        await login.by_password("tess", "guess", "10.0.0.7")


@pytest.mark.anyio
async def test_without_authentication_everybody_is_anonymous() -> None:
    caller = await login_of(Settings()).by_password("whoever", "whatever", "127.0.0.1")
    assert caller.principal == NOBODY
