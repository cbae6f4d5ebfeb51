"""The options of commands that print lists."""

from __future__ import annotations

from typing import Annotated

import typer

ListFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-F",
        metavar="FORMAT",
        help="table, vertical, csv, json, jsonl or markdown [default: table on a terminal, csv otherwise]",
    ),
]
IsJson = Annotated[bool, typer.Option("--json", help="print the gateway's answer as JSON")]
