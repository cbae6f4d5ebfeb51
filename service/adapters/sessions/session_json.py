"""The values of a session as JSON. A reader leaves out what it does not know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from service.adapters.postgres.shared.storable import storable
from service.model.sessions.sessions import MadeView, SessionValues, SessionView


def values_json(values: SessionValues) -> dict[str, Any]:
    """Returns the values as JSON; `values_of` reads them.

    >>> values_json(SessionValues("lake", "shop", {"a": "b"}))
    {'catalog': 'lake', 'schema': 'shop', 'settings': {'a': 'b'}, 'views': [], 'made': []}
    """
    return {
        "catalog": values.catalog and storable(values.catalog),
        "schema": values.schema and storable(values.schema),
        "settings": dict(values.settings),
        "views": [
            {"name": view.name, "sql": storable(view.sql), "catalog": view.catalog, "schema": view.schema}
            for view in values.views
        ],
        "made": [
            {"name": [storable(part) for part in view.name], "state": storable(view.state)}
            for view in values.made
        ],
    }


def values_of(found: Mapping[str, Any]) -> SessionValues:
    """Returns the values that `values_json` wrote."""
    return SessionValues(
        found["catalog"],
        found["schema"],
        found["settings"],
        tuple(
            SessionView(view["name"], view["sql"], view["catalog"], view["schema"]) for view in found["views"]
        ),
        # Sessions of earlier versions have none.
        tuple(MadeView(tuple(view["name"]), view["state"]) for view in found.get("made", ())),
    )
