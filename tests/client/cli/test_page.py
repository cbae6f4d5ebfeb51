"""Tests that docs/how-to/command-line.md names every command, option, format and exit code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.main import get_command

from api.cli.other_commands import CLIENT_COMMANDS
from sluice_client.cli.command_line import app
from sluice_client.cli.exits import ExitCode
from sluice_client.cli.formats.row_format import Format
from sluice_client.cli.interactive.meta_commands import META_COMMANDS
from sluice_client.cli.profiles import Profile

PAGE = (Path(__file__).parents[3] / "docs" / "how-to" / "command-line.md").read_text("utf-8")
COMMANDS = vars(get_command(app))["commands"]


def test_every_command_is_named() -> None:
    assert sorted(COMMANDS) == sorted(CLIENT_COMMANDS)
    assert [name for name in COMMANDS if not re.search(rf"`(?:sluice )?{name}\b", PAGE)] == []


@pytest.mark.parametrize("name", sorted(CLIENT_COMMANDS))
def test_every_option_is_named(name: str) -> None:
    options = [
        parameter.opts[0] for parameter in COMMANDS[name].params if parameter.param_type_name == "option"
    ]
    assert [option for option in options if option not in PAGE] == []


def test_every_format_exit_code_command_and_field_is_named() -> None:
    assert [asked.value for asked in Format if f"`{asked.value}`" not in PAGE] == []
    assert [code for code in ExitCode if f"| {code.value} |" not in PAGE] == []
    assert [command for command in META_COMMANDS if f"`{command}" not in PAGE] == []
    assert [field for field in Profile.__dataclass_fields__ if f"`{field}`" not in PAGE] == []
