"""The `sluice` command: its arguments, and what each subcommand does.

`command_line` and `command_groups` read the arguments, and import a command when it runs. `serve` builds the
gateway with `bootstrap` and runs the server of `http`. `doctor` and `part_checks` examine a machine and its
stores before a start. `demonstration` shows one query and one ingest. This room may import all other rooms of
`api`.
"""

from api.cli.command_line import main

__all__ = ["main"]
