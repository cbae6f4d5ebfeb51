"""The options that every command has: whom to ask, and as whom."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Concatenate, ParamSpec

import typer

from sluice_client.cli.reported import reported

P = ParamSpec("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionOptions:
    """The arguments about the connection. None: see `profiles`."""

    url: str | None
    profile: str | None
    token_file: Path | None
    ca_file: Path | None
    certificate: Path | None
    key: Path | None
    is_json_errors: bool


def _options(
    url: Annotated[
        str | None,
        typer.Option("--url", help="the gateway's address [env: SLUICE_URL; default: http://127.0.0.1:8080]"),
    ] = None,
    profile: Annotated[
        str | None, typer.Option("--profile", help="of the configuration file [env: SLUICE_PROFILE]")
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", help="a file with the token alone, instead of SLUICE_TOKEN"),
    ] = None,
    ca_file: Annotated[
        Path | None, typer.Option("--ca-file", help="who may sign the gateway's certificate")
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--certificate", help="the client's own certificate")
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--key", help="its key, if the certificate's file does not have it")
    ] = None,
    is_json_errors: Annotated[
        bool, typer.Option("--json-errors", help="print errors as JSON, as the gateway sends them")
    ] = False,
) -> None:
    """Has the options' names, types and defaults."""


def with_connection(command: Callable[Concatenate[ConnectionOptions, P], None]) -> Callable[..., None]:
    """Returns a command that has the connection's options after its own, and ends with an exit code."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    shared = list(inspect.signature(_options, eval_str=True).parameters.values())
    as_keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*own, *shared)]

    @wraps(command)
    def run(**values: Any) -> None:
        options = ConnectionOptions(**{parameter.name: values.pop(parameter.name) for parameter in shared})
        with reported(is_json=options.is_json_errors):
            command(options, **values)  # type: ignore[call-arg]  # typer calls it by these names

    vars(run)["__signature__"] = inspect.Signature(as_keywords)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in as_keywords}
    # Its annotations would be read instead.
    del run.__wrapped__
    return run
