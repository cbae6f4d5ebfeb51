"""The options that `query` and `explain` share, and their values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

SqlFile = Annotated[Path | None, typer.Option("--file", "-f", help="a file with the SQL")]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter",
        "-p",
        metavar="NAME=VALUE",
        help="a value for :name, as JSON or text; name:TYPE=value has an SQL type; may be repeated",
    ),
]
Catalog = Annotated[str | None, typer.Option("--catalog", help="for names without a catalog")]
Schema = Annotated[str | None, typer.Option("--schema", help="for names without a schema")]
RowLimit = Annotated[
    str | None,
    typer.Option(
        "--row-limit",
        metavar="ROWS",
        help="rows of the result at most; max: as many as the gateway's operator allows",
    ),
]
TimeoutOption = Annotated[
    str | None, typer.Option("--timeout", metavar="DURATION", help="ends the query: 30, 30s, 500ms, 5m")
]


class Priority(StrEnum):
    """Which of a caller's own waiting queries goes first."""

    HIGH = "high"
    NORMAL = "normal"
    LOW = "low"


ON_THE_WIRE: Mapping[Priority, Literal["HIGH", "NORMAL", "LOW"]] = {
    Priority.HIGH: "HIGH",
    Priority.NORMAL: "NORMAL",
    Priority.LOW: "LOW",
}
PriorityOption = Annotated[
    Priority | None,
    typer.Option("--priority", case_sensitive=False, help="before or after your other waiting queries"),
]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="NAME=VALUE", help="kept with the query's record; may be repeated"),
]
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def row_limit_of(text: str) -> int | Literal["MAX"]:
    """Returns a number of rows, or the word for the operator's bound.

    >>> row_limit_of("10"), row_limit_of("max")
    (10, 'MAX')

    Raises:
        ValueError: it is neither.
    """
    if text.strip().upper() == "MAX":
        return "MAX"
    if not (text.strip().isascii() and text.strip().isdecimal()):
        raise ValueError(f"--row-limit is a number of rows, or max, not {text!r}")
    return int(text)


def seconds_of(text: str) -> float:
    """Returns a duration in seconds; a number alone is seconds.

    >>> seconds_of("500ms"), seconds_of("5m"), seconds_of("30")
    (0.5, 300.0, 30.0)

    Raises:
        ValueError: it is not a duration above zero.
    """
    found = _DURATION.fullmatch(text.strip())
    seconds = float(found[1]) * _SECONDS[found[2] or "s"] if found else 0.0
    if seconds <= 0:
        raise ValueError(f"{text!r} is not a duration such as 30s, 500ms or 5m")
    return seconds


def tags_of(texts: Sequence[str]) -> dict[str, str]:
    """Returns tags by name.

    >>> tags_of(["team=sales"])
    {'team': 'sales'}

    Raises:
        ValueError: a text has no name.
    """
    pairs = [text.partition("=") for text in texts]
    if any(not name or not equals for name, equals, _ in pairs):
        raise ValueError("--tag is name=value")
    return {name: value for name, _, value in pairs}
