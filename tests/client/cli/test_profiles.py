"""Tests whom a command asks, and as whom: arguments, environment, profiles and files with tokens."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.client.cli.running import Cli
from tests.client.hostile_server import answer, hostile

TABLES = answer(b'{"tables": [], "missingCatalogs": []}')


@pytest.fixture
def configuration(home: Path) -> Path:
    path = home / "xdg_config_home" / "sluice" / "config.toml"
    path.parent.mkdir()
    return path


def write(path: Path, text: str, mode: int = 0o600) -> None:
    path.write_text(text, "utf-8")
    path.chmod(mode)


def token_of(request: bytes) -> str | None:
    found = re.search(rb"authorization: bearer (\S+)", request, re.IGNORECASE)
    return None if found is None else found[1].decode()


def test_a_token_comes_from_the_environment_or_a_file(home: Path) -> None:
    path = home / "token"
    write(path, "of-the-file\n")
    with hostile(TABLES) as server:
        cli = Cli(server.url)
        assert cli.run("tables").code == 0
        assert cli.run("tables", variables={"SLUICE_TOKEN": "of-the-environment"}).code == 0
        variables = {"SLUICE_TOKEN": "of-the-environment"}
        assert cli.run("tables", "--token-file", str(path), variables=variables).code == 0
    assert [token_of(request) for request in server.requests] == [None, "of-the-environment", "of-the-file"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_with_a_token_that_others_may_read_is_refused(
    home: Path, configuration: Path, mode: int
) -> None:
    path = home / "token"
    write(path, "secret-token", mode)
    with hostile(TABLES) as server:
        ended = Cli(server.url).run("tables", "--token-file", str(path))
        assert ended.code == 2
        assert "chmod 600" in ended.err
        write(configuration, f'[profiles.default]\nurl = "{server.url}"\ntoken = "secret-token"\n', mode)
        refused = Cli(server.url).run("tables")
        assert refused.code == 2
        assert "chmod 600" in refused.err
        assert "secret-token" not in refused.err
    assert server.requests == []


def test_a_file_without_a_token_may_be_read_by_others(configuration: Path) -> None:
    with hostile(TABLES) as server:
        write(configuration, f'[profiles.default]\nurl = "{server.url}"\n', 0o644)
        assert Cli("").run("tables").code == 0


def test_a_profile_has_an_address_a_token_and_names(configuration: Path) -> None:
    with hostile(answer(b"", 404, "text/plain")) as server:
        write(
            configuration,
            f'[profiles.prod]\nurl = "{server.url}"\ntoken = "t"\ncatalog = "lake"\nschema = "tpcds"\n',
        )
        Cli("http://127.0.0.1:9").run("query", "SELECT 1", "--profile", "prod")
        Cli("http://127.0.0.1:9").run("query", "SELECT 1", variables={"SLUICE_PROFILE": "prod"})
    assert {token_of(request) for request in server.requests} == {"t"}
    assert b'"catalog": "lake", "schema": "tpcds"' in server.requests[0]


@pytest.mark.parametrize("is_named", [True, False])
def test_the_token_of_a_profile_goes_to_the_address_of_the_profile_alone(
    configuration: Path, is_named: bool
) -> None:
    with hostile(TABLES) as server:
        write(
            configuration,
            'default_profile = "prod"\n[profiles.prod]\nurl = "https://prod.example"\ntoken = "secret"\n',
        )
        named = ["--profile", "prod"] if is_named else []
        assert Cli("").run("tables", "--url", server.url, *named).code == 0
        if not is_named:
            assert Cli(server.url).run("tables").code == 0
    assert {token_of(request) for request in server.requests} == {None}


def test_a_token_file_of_a_profile_is_beside_the_configuration(configuration: Path) -> None:
    write(configuration.parent / "token", "beside")
    with hostile(TABLES) as server:
        write(configuration, f'[profiles.default]\nurl = "{server.url}/"\ntoken_file = "token"\n', 0o644)
        assert Cli("").run("tables").code == 0
    assert [token_of(request) for request in server.requests] == ["beside"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[profiles.default", "not valid TOML"),
        ("[profiles.default]\ntoken = secret-token", "not valid TOML"),
        ('[profiles.default]\nurl = "http://h"\ntokn = "x"', "unknown name tokn"),
        ("[profiles.default]\nurl = 1", "url is not text"),
        ('[profiles.default]\ntoken = "x"', "needs the url"),
        ("profiles = 1", "default_profile and"),
        ("[default]", "default_profile and"),
        ('default_profile = "gone"', "there is no profile gone"),
        ("[profiles]\ndefault = 1", "is not a table"),
    ],
)
def test_a_configuration_that_is_wrong_says_where(configuration: Path, text: str, says: str) -> None:
    write(configuration, text)
    ended = Cli("").run("tables")
    assert ended.code == 2
    assert says in ended.err
    assert "secret-token" not in ended.err


def test_a_profile_that_is_asked_for_has_to_be_there(configuration: Path) -> None:
    ended = Cli("").run("tables", "--profile", "gone")
    assert (ended.code, "No such file" in ended.err) == (2, True)
    write(configuration, "")
    assert "there is no profile gone" in Cli("").run("tables", "--profile", "gone").err


def test_no_option_takes_a_token() -> None:
    for command in ("query", "ingest", "explain", "tables", "status", "cancel", "top"):
        shown = Cli("").run(command, "--help").out
        assert "--token-file" in shown
        assert "--token " not in shown
