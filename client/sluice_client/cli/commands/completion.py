"""`sluice completion`."""

from __future__ import annotations

from typing import Annotated

import typer

from sluice_client.cli.reported import reported

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def completion(
    context: typer.Context, shell: Annotated[str, typer.Argument(help="bash, zsh or fish")]
) -> None:
    """Prints a script that completes commands and options in a shell.

    For bash, add to ~/.bashrc: eval "$(sluice completion bash)"
    """
    with reported(is_json=False):
        from sluice_client.cli.exits import WrongUsage
        from sluice_client.cli.shell_completion import completion_script

        program = context.find_root().info_name or "sluice"
        script = completion_script(program, shell)
        if script is None:
            raise WrongUsage(f"there is completion for bash, zsh and fish, not for {shell!r}")
        typer.echo(script)
