"""The loop of the interactive mode: reads a statement, runs it, and goes on whatever happens."""

from __future__ import annotations

import sys
from dataclasses import replace

from sluice_client.cli.command_session import Session
from sluice_client.cli.error_text import show_error
from sluice_client.cli.exits import Failed, WrongUsage
from sluice_client.cli.formats.row_format import BINARY
from sluice_client.cli.interactive.meta_commands import Leave, run_meta_command
from sluice_client.cli.output import Output, output_to
from sluice_client.cli.source import InSource, Source
from sluice_client.cli.statements import Statement, statements_of
from sluice_client.cli.terminal.screen import note, style_of
from sluice_client.cli.work.run_statement import Manner, run_statement
from sluice_client.errors import SluiceError


def run_shell(session: Session, manner: Manner) -> None:
    r"""Runs statements until Ctrl-D or `\q`. Ctrl-C cancels the query that runs, or clears the line.

    Raises:
        WrongUsage: prompt-toolkit is not installed, or the format is not text.
    """
    if manner.format in BINARY:
        raise WrongUsage(f"{manner.format.value} is not for terminals")
    try:
        from sluice_client.cli.interactive.prompt import Prompt
    except ImportError:
        raise WrongUsage(
            "the interactive mode needs prompt-toolkit: pip install 'sluice-client[cli]'. Pass SQL as an"
            " argument, with --file or on standard input"
        ) from None
    prompt = Prompt(session)
    style = style_of(sys.stdout)
    with output_to(None) as output:
        output.text([style.dim(f"{session.context.base_url}: end a statement with ;  \\? lists commands\n")])
        output.stream.flush()
        while True:
            try:
                text = prompt.read()
                manner = run_text(text, session, manner, output)
            except KeyboardInterrupt:
                continue
            except (EOFError, Leave):
                return


def run_text(text: str, session: Session, manner: Manner, output: Output) -> Manner:
    r"""Runs one input, and returns how the next one is shown. Errors are shown, and end nothing.

    Raises:
        Leave: it is `\q`.
    """
    try:
        if text.lstrip().startswith("\\"):
            manner = run_meta_command(text, session, manner, output)
        else:
            for statement in statements_of(text):
                _run(statement, session, manner, output)
    except KeyboardInterrupt:
        note("canceled")
    except BrokenPipeError:
        raise
    except (SluiceError, InSource, WrongUsage, Failed, OSError) as error:
        show_error(error, is_json=False)
    finally:
        output.stream.flush()
    return manner


def _run(statement: Statement, session: Session, manner: Manner, output: Output) -> None:
    # A person sees the rows that there are.
    chosen = replace(manner, is_cut_allowed=True, has_others=True)
    run_statement(session, Source(statement.sql, statement.first_line), chosen, output)
