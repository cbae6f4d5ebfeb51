"""Tests credentials: they reach the gateway, and nothing and nobody else."""

from __future__ import annotations

import hashlib
import logging
import pickle
import ssl
import traceback
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from sluice_client import ConnectionFailed, NotAuthenticated, RetryPolicy, SluiceError, connect, connect_async
from sluice_client.secrets import BearerToken
from tests.client.cli.running import Cli
from tests.client.gateways import HOST, Served, furnished, serving
from tests.client.hostile_server import answer, hostile, problem, succeeded
from tests.integration.tls import Authority

TOKEN = "correct-horse-battery-staple"
ONCE = RetryPolicy(attempts=1)


@pytest.fixture(scope="module")
def locked_address() -> Iterator[str]:
    tokens = {"ana": hashlib.sha256(TOKEN.encode()).hexdigest()}
    with serving(api_tokens=tokens) as (url, gateway), furnished(url, gateway):
        yield url


def test_a_token_is_sent(locked_address: str) -> None:
    with connect(locked_address, token=TOKEN) as connection:
        assert connection.query("SELECT 1").rows() == [(1,)]


def test_a_token_of_the_environment_is_sent(locked_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLUICE_TOKEN", TOKEN)
    with connect(locked_address) as connection:
        assert connection.query("SELECT 1").rows() == [(1,)]


def test_a_function_gives_the_token_that_is_valid_now(locked_address: str) -> None:
    tokens = iter(["expired", TOKEN, TOKEN])
    with connect(locked_address, token=lambda: next(tokens)) as connection:
        with pytest.raises(NotAuthenticated):
            connection.query("SELECT 1")
        assert connection.query("SELECT 1").rows() == [(1,)]
    with connect(locked_address, token=lambda: f"{TOKEN}\r\nX-Evil: 1") as connection:
        with pytest.raises(ValueError, match="characters") as raised:
            connection.query("SELECT 1")
        assert TOKEN not in str(raised.value)


@pytest.mark.parametrize("token", ["", "wrong"])
def test_without_the_right_token_nothing_is_served(locked_address: str, token: str) -> None:
    with connect(locked_address, token=token) as connection, pytest.raises(NotAuthenticated) as raised:
        connection.query("SELECT 1")
    assert raised.value.status == 401


@pytest.mark.parametrize("token", ["a b", "a\r\nX-Evil: 1", "\u00e9", "a" * 10_000])
def test_a_token_that_is_no_header_is_refused_without_showing_it(token: str) -> None:
    with pytest.raises(ValueError, match="token") as raised:
        connect("http://127.0.0.1:1", token=token)
    assert token not in str(raised.value)


def test_an_address_with_credentials_is_refused_without_showing_them() -> None:
    with pytest.raises(ValueError, match="token") as raised:
        connect(f"http://ana:{TOKEN}@127.0.0.1:1")
    assert TOKEN not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8080", "ftp://a", "http://", "http://a/?q=1", "http://a#b", "http://[::"]
)
def test_what_is_no_address_of_a_gateway_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        connect(url)


@pytest.mark.parametrize(
    "bad",
    [b"", b"junk", answer(b"{"), answer(b"", 307, Location="http://127.0.0.1:1/"), problem("INTERNAL", 500)],
    ids=["closed", "junk", "not JSON", "a redirect", "a problem"],
)
def test_no_error_repr_or_log_shows_the_token(bad: bytes, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with hostile(bad) as server, connect(server.url, token=TOKEN, retries=ONCE) as connection:
        with pytest.raises(SluiceError) as raised:
            connection.query("SELECT 1")
        shown = repr(connection)
    assert f"Bearer {TOKEN}".encode() in server.requests[0]
    assert TOKEN not in shown
    assert TOKEN not in "".join(traceback.format_exception(raised.value))
    assert TOKEN not in caplog.text


def test_a_token_has_no_repr_and_is_not_pickled() -> None:
    token = BearerToken(TOKEN)
    assert TOKEN not in repr(token)
    with pytest.raises(TypeError):
        pickle.dumps(token)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_its_target_gets_nothing(status: int) -> None:
    with ExitStack() as stack:
        other = stack.enter_context(hostile(succeeded()))
        redirect = answer(b"", status, Location=f"{other.url}/query")
        server = stack.enter_context(hostile(redirect))
        connection = stack.enter_context(connect(server.url, token=TOKEN))
        with pytest.raises(SluiceError, match="redirect"):
            connection.query("SELECT 1")
        assert other.requests == []


def test_credentials_of_a_proxy_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://ana:{TOKEN}@127.0.0.1:1")
    with connect("http://gateway.example", retries=ONCE) as connection, pytest.raises(SluiceError) as raised:
        connection.query("SELECT 1")
    assert TOKEN not in "".join(traceback.format_exception(raised.value))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def https(authority: Authority) -> Iterator[Served]:
    """A gateway that requires certificates of its clients."""
    file = authority.certificate(HOST)
    options = {"tls_certificate_file": file, "tls_key_file": file, "tls_client_ca_file": authority.ca}
    with (
        serving(**options, tls_client_certificates="optional") as (url, gateway),
        furnished(url, gateway) as made,
    ):
        yield made


def test_a_client_certificate_names_the_caller(https: Served, authority: Authority) -> None:
    file = authority.client("ana")
    with connect(https.url, ca_file=authority.ca, certificate=(file, file)) as connection:
        assert connection.query("SELECT 1").rows() == [(1,)]
    assert [query.record.caller for query in https.queries.by_id.values()] == ["certificate:ana"]


def test_the_command_line_shows_its_certificate_too(
    https: Served, authority: Authority, tmp_path: Path
) -> None:
    trusted = ["--ca-file", str(authority.ca), "--certificate", str(authority.client("ana"))]
    variables = {"XDG_CONFIG_HOME": str(tmp_path)}
    ended = Cli(https.url).process("query", "SELECT 2 AS n", *trusted, variables=variables)
    assert (ended.code, ended.out) == (0, "n\r\n2\r\n"), ended.err
    callers = {query.record.caller for query in https.queries.by_id.values()}
    assert callers == {"certificate:ana"}
    stranger = Cli(https.url).process("query", "SELECT 2", *trusted[:2], variables=variables)
    assert stranger.code == 3


@pytest.mark.anyio
async def test_the_async_twin_shows_its_certificate_too(https: Served, authority: Authority) -> None:
    file = authority.client("ana")
    async with connect_async(https.url, ca_file=authority.ca, certificate=(file, file)) as connection:
        assert await (await connection.query("SELECT 1")).rows() == [(1,)]


def test_without_a_certificate_nothing_is_served(https: Served, authority: Authority) -> None:
    with connect(https.url, ca_file=authority.ca) as connection, pytest.raises(NotAuthenticated):
        connection.query("SELECT 1")


def test_a_gateway_of_another_authority_gets_no_token(https: Served, tmp_path: Path) -> None:
    strangers = Authority(tmp_path, "strangers")
    with (
        connect(https.url, ca_file=strangers.ca, token=TOKEN, retries=ONCE) as connection,
        pytest.raises(ConnectionFailed, match="certificate") as raised,
    ):
        connection.query("SELECT 1")
    assert not raised.value.was_sent


def test_files_of_certificates_that_do_not_fit_are_refused(authority: Authority, tmp_path: Path) -> None:
    file = authority.client("ana")
    with pytest.raises(ValueError, match="certificate file, key file"):
        connect("https://127.0.0.1:1", certificate=str(file))
    with pytest.raises(FileNotFoundError):
        connect("https://127.0.0.1:1", ca_file=tmp_path / "missing.pem")
    with pytest.raises(ssl.SSLError):
        connect("https://127.0.0.1:1", certificate=(file, authority.ca))
