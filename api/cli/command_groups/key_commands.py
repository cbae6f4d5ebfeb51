"""The commands of `sluice keys`."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.one_sentence_errors import one_sentence_errors

keys = typer.Typer(help="Creates, lists and revokes API keys.", no_args_is_help=True, rich_markup_mode=None)


@keys.command("create")
def create_key(
    principal: Annotated[str, typer.Argument(help="whose key it is: the caller of its queries and ingests")],
    roles: Annotated[list[str], typer.Option("--role", help="admin: may manage keys; may be repeated")] = [],  # noqa: B006
    description: Annotated[str, typer.Option(help="what it is for")] = "",
    expires_in_days: Annotated[int, typer.Option(help="0: it does not expire", min=0)] = 90,
) -> None:
    """Creates a key, and prints it as the only line on standard output. It is shown only once."""
    with one_sentence_errors():
        from api.cli.commands.api_keys import create as run

        run(principal, roles, description, expires_in_days or None)


@keys.command("list")
def list_keys(
    is_json: Annotated[bool, typer.Option("--json", help="one JSON document instead of a table")] = False,
) -> None:
    """Prints all keys with their last use, without their secrets."""
    with one_sentence_errors():
        from api.cli.commands.api_keys import list_keys as run

        run(is_json=is_json)


@keys.command("revoke")
def revoke_key(key_id: Annotated[str, typer.Argument(help="as `sluice keys list` shows it")]) -> None:
    """Revokes a key. Every gateway refuses it within seconds."""
    with one_sentence_errors():
        from api.cli.commands.api_keys import revoke as run

        run(key_id)
