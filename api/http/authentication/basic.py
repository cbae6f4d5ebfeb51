"""Names and passwords in a request's head, for the paths of protocols whose clients send nothing else."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence

from starlette.types import Scope

_PATHS = re.compile(r"/cliservice/?|/sql/protocolv1/o/[^/]+/[^/]+")
_NAMED = "named"


def takes_password(path: str) -> bool:
    """Whether a request for this path may have a name and a password in the place of a token.

    >>> takes_password("/cliservice"), takes_password("/query")
    (True, False)
    """
    return _PATHS.fullmatch(path) is not None


def bearer_for(values: Sequence[str]) -> tuple[Sequence[str], str]:
    """Returns the headers with the password as a token, and the name. Other headers stay as they are.

    >>> bearer_for(["Basic a2ltOnNlY3JldA=="]), bearer_for(["Bearer secret"])
    ((['Bearer secret'], 'kim'), (['Bearer secret'], ''))
    """
    if len(values) != 1:
        return values, ""
    scheme, _, text = values[0].partition(" ")
    if scheme.lower() != "basic":
        return values, ""
    try:
        name, _, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return values, ""
    return [f"Bearer {password}"] if password else [], name


def note_named(scope: Scope, name: str) -> None:
    """Notes the name that came with a password."""
    scope.setdefault("state", {})[_NAMED] = name


def named_in(scope: Scope) -> str:
    """Returns the name that came with a password; empty: none came."""
    name: str = scope.get("state", {}).get(_NAMED, "")
    return name
