"""Tests the commands as other programs find them: by the metadata of the installed package."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from api.cli.other_commands import CLIENT_COMMANDS, GROUP
from tests.client.cli.running import CLIENT, Cli, Ended
from tests.client.gateways import Served

ROOT = CLIENT.parent
GATEWAY = (sys.executable, "-m", "api.cli")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the client as its wheel installs it."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=CLIENT, capture_output=True, timeout=300, check=True)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    wheel.unlink()
    return folder


def sluice(cli: Cli, *arguments: str, path: tuple[Path, ...], **variables: str) -> Ended:
    """Runs the gateway's `sluice`, which finds packages in these folders."""
    searched = os.pathsep.join(map(str, (ROOT, *path)))
    return cli.process(*arguments, command=GATEWAY, variables={"PYTHONPATH": searched, **variables})


def test_the_package_offers_each_command_and_a_program(installed: Path) -> None:
    [folder] = installed.glob("*.dist-info")
    points = PathDistribution(folder).entry_points
    assert sorted(point.name for point in points.select(group=GROUP)) == sorted(CLIENT_COMMANDS)
    [program] = points.select(group="console_scripts")
    assert program.name == "sluice-client"
    for point in points:
        assert callable(point.load())


def test_the_gateways_command_runs_those_of_the_client(installed: Path, cli: Cli, gateway: Served) -> None:
    ended = sluice(cli, "query", "SELECT 1 AS n", path=(installed,))
    assert (ended.code, ended.out) == (0, "n\r\n1\r\n"), ended.err
    assert len(gateway.queries.by_id) == 1
    failed = sluice(cli, "query", "SELECT nope", path=(installed,))
    assert (failed.code, failed.out) == (1, "")
    usage = sluice(cli, "query", "--help", path=(installed,))
    assert usage.out.startswith("Usage: python -m api.cli query [OPTIONS]")


def test_help_lists_them_without_importing_them(installed: Path, cli: Cli, tmp_path: Path) -> None:
    shown = sluice(cli, "--help", path=(installed,)).out
    own, _, others = shown.partition("Commands of sluice-client")
    assert "serve" in own
    assert "cancel, completion, explain, ingest, query, status, tables, top" in others
    broken = tmp_path / "broken-1.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n", "utf-8")
    (broken / "entry_points.txt").write_text(
        f"[{GROUP}]\nserve = nowhere:app\nextra = nowhere:app\n", "utf-8"
    )
    shown = sluice(cli, "--help", path=(tmp_path,)).out
    assert "Commands of broken" in shown
    # `serve` is the gateway's own, and stays that.
    assert "Serves until SIGINT" in sluice(cli, "serve", "--help", path=(tmp_path,)).out
    ended = sluice(cli, "extra", path=(tmp_path,))
    assert ended.code == 2
    assert "`extra` cannot be loaded" in ended.err


@pytest.mark.parametrize("command", ["query", "top"])
def test_a_client_that_is_not_installed_says_how_to_get_it(cli: Cli, tmp_path: Path, command: str) -> None:
    # The first package of a name hides the others, also one that is installed here.
    nothing = tmp_path / "sluice_client-0.dist-info"
    nothing.mkdir()
    (nothing / "METADATA").write_text("Metadata-Version: 2.1\nName: sluice-client\nVersion: 0\n", "utf-8")
    ended = sluice(cli, command, path=(tmp_path,))
    assert ended.code == 2
    assert "pip install './client[cli]'" in ended.err
    assert sluice(cli, "no-such-command", path=(tmp_path,)).code == 2


def test_a_shell_completes_the_commands_of_both(installed: Path, cli: Cli) -> None:
    script = sluice(cli, "completion", "bash", path=(installed,))
    assert script.code == 0
    variables = {"_SLUICE_COMPLETE": "complete_bash", "COMP_WORDS": "sluice s", "COMP_CWORD": "1"}
    program = "import sys; sys.argv = ['sluice']; from api.cli import main; main()"
    searched = os.pathsep.join(map(str, (ROOT, installed)))
    command = (sys.executable, "-c", program)
    found = cli.process(command=command, variables={"PYTHONPATH": searched, **variables})
    assert found.out.split() == ["serve", "status"]


def test_a_gateway_in_the_same_shell_ignores_the_variables_of_clients(cli: Cli) -> None:
    variables = {"SLUICE_TOKEN": "a-callers-token", "SLUICE_PROFILE": "prod"}
    ended = sluice(cli, "config", path=(), **variables)
    assert ended.code == 0, ended.err
    assert variables["SLUICE_TOKEN"] not in ended.out
