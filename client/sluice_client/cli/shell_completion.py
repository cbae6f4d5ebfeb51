"""Completion in shells: the script of each shell, and the answers when the shell asks."""

from __future__ import annotations

import os
from pathlib import PurePath

from typer.completion import completion_init, get_completion_script  # type: ignore[attr-defined]

_SHELLS = ("bash", "zsh", "fish")


def completion_script(program: str, shell: str) -> str | None:
    """Returns the script for a shell; None: it is not one of them."""
    if shell not in _SHELLS:
        return None
    name = PurePath(program).name
    return get_completion_script(prog_name=name, complete_var=_variable(name), shell=shell)


def answer_completions(program: str) -> None:
    """Lets typer answer a shell that asks for completions, in its own form. Otherwise, it does nothing."""
    if _variable(PurePath(program).name) in os.environ:
        completion_init()


def _variable(name: str) -> str:
    return f"_{name.replace('-', '_').replace('.', '_').upper()}_COMPLETE"
