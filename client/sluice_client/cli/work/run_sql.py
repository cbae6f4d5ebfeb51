"""Runs the SQL of an argument, a file or standard input, statement by statement."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from sluice_client.cli.command_session import Session
from sluice_client.cli.exits import WrongUsage
from sluice_client.cli.formats.choose_format import chosen_format
from sluice_client.cli.formats.row_format import ONE_RESULT, Format
from sluice_client.cli.output import Output, output_to
from sluice_client.cli.source import Source
from sluice_client.cli.statements import statements_of
from sluice_client.cli.terminal.screen import is_terminal
from sluice_client.cli.work.run_statement import Manner, run_statement

_MAX_SQL_BYTES = 64 * 1024 * 1024
"""No gateway takes a longer text."""


def sql_text(argument: str | None, file: Path | None) -> tuple[str, str | None] | None:
    """Returns the text and the name of its file; None: a person shall type it.

    Raises:
        WrongUsage: there are two texts, or a file cannot be read.
    """
    if argument is not None and file is not None:
        raise WrongUsage("pass SQL as an argument or with --file, not both")
    if argument is not None and argument != "-":
        return argument, None
    if file is not None and str(file) != "-":
        return _read(file), file.name
    if argument is None and file is None and is_terminal(sys.stdin) and is_terminal(sys.stdout):
        return None
    standard_input: TextIO | None = sys.stdin
    if standard_input is None:
        raise WrongUsage("there is no standard input: pass SQL as an argument or with --file")
    return _decoded(standard_input.buffer.read(_MAX_SQL_BYTES + 1), "standard input"), None


def run_sql(
    session: Session, text: tuple[str, str | None], manner: Manner, asked: Format | None, path: Path | None
) -> None:
    """Runs every statement of a text, until one fails.

    Raises:
        WrongUsage: there is no statement, or several do not fit the format or the parameters.
    """
    sql, name = text
    found = statements_of(sql)
    if not found:
        raise WrongUsage("there is no SQL in it")
    with output_to(path) as output:
        chosen = replace(manner, format=chosen_format(asked, path, is_screen=output.is_screen))
        if len(found) > 1:
            _check_several(len(found), chosen)
        chosen = replace(chosen, has_others=len(found) > 1)
        for number, statement in enumerate(found):
            if number:
                _separate(chosen.format, output)
            run_statement(session, Source(statement.sql, statement.first_line, name), chosen, output)


def _check_several(count: int, manner: Manner) -> None:
    if manner.format in ONE_RESULT:
        raise WrongUsage(f"there are {count} statements, and {manner.format.value} holds one result")
    if manner.parameters:
        raise WrongUsage(f"there are {count} statements: --parameter is for one")


def _separate(asked: Format, output: Output) -> None:
    if asked is not Format.JSONL:
        output.text(["\n"])


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return _decoded(file.read(_MAX_SQL_BYTES + 1), str(path))
    except OSError as error:
        raise WrongUsage(f"{path}: {error.strerror}") from None


def _decoded(data: bytes, place: str) -> str:
    if len(data) > _MAX_SQL_BYTES:
        raise WrongUsage(f"{place}: it is longer than any gateway takes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise WrongUsage(f"{place}: it is not UTF-8") from None
