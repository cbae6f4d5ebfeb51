"""A caller's session: values that all of its queries have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class SessionView:
    """A temporary view: a name for a query, which is read with the rights of who uses it.

    The names in its text are completed by `catalog` and `schema`, those of the session when it was made. It
    may name the views that the session had before it.
    """

    name: str
    sql: str
    catalog: str | None = None
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class MadeView:
    """A view of a catalog as a session has made it: its full name and its state, which any change ends."""

    name: tuple[str, ...]
    state: str


@dataclass(frozen=True, slots=True)
class SessionValues:
    """The values of a session. `settings` are the engine's, by name; `views` are in order of creation.

    `made` are views of catalogs that the session has made itself, the latest last.
    """

    catalog: str | None = None
    schema: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    views: tuple[SessionView, ...] = ()
    made: tuple[MadeView, ...] = ()

    def view(self, name: str) -> SessionView | None:
        """Returns the view of this name, in any case; None: there is none."""
        return next((view for view in self.views if view.name.lower() == name.lower()), None)

    def before(self, name: str) -> SessionValues:
        """Returns the values with those views only that a view of this name may read: those before it."""
        places = (at for at, view in enumerate(self.views) if view.name.lower() == name.lower())
        return replace(self, views=self.views[: next(places, len(self.views))])


@dataclass(frozen=True, slots=True)
class Session:
    """A session of a caller, and how long it lasts if it is not used."""

    session_id: UUID
    caller: str
    values: SessionValues
    created_at: datetime
    last_used_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SessionUse:
    """The values of a session at the moment when a query was sent in it."""

    session_id: UUID
    values: SessionValues
