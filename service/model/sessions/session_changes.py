"""Changes of a session's values, as statements and requests make them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.model.sessions.sessions import MadeView, SessionView


@dataclass(frozen=True, slots=True)
class PutSettings:
    """Sets settings, each checked and spelled as the engine spells it when it is applied."""

    settings: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ResetSetting:
    """Gives a setting the gateway's own value again; without a name, all settings."""

    name: str | None = None


@dataclass(frozen=True, slots=True)
class UseSchema:
    """Makes a catalog and a schema those of names without one."""

    catalog: str
    schema: str | None


@dataclass(frozen=True, slots=True)
class PutView:
    """Adds a temporary view, or replaces the one of its name in its place.

    With `keeps`, a view that exists stays as it is; without `replaces`, it is an error.
    """

    view: SessionView
    replaces: bool = True
    keeps: bool = False


@dataclass(frozen=True, slots=True)
class DropView:
    """Removes a temporary view; with `if_exists`, only if there is one."""

    name: str
    if_exists: bool = False


@dataclass(frozen=True, slots=True)
class NoteMadeView:
    """Notes that the session has made a view of a catalog."""

    view: MadeView


@dataclass(frozen=True, slots=True)
class ForgetMadeView:
    """Notes that a view of this full name was dropped."""

    name: tuple[str, ...]


SessionChange = PutSettings | ResetSetting | UseSchema | PutView | DropView | NoteMadeView | ForgetMadeView


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueBounds:
    """How many views a session may have, and how many bytes all of its values may take."""

    max_views: int = 50
    max_bytes: int = 256 * 1024
