"""Applies a change to a session's values, within their bounds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from service.errors.session_errors import SessionTooLarge, SessionViewNotFound
from service.errors.statement_errors import SqlInvalid
from service.model.sessions.session_changes import (
    DropView,
    ForgetMadeView,
    NoteMadeView,
    PutSettings,
    PutView,
    ResetSetting,
    SessionChange,
    UseSchema,
    ValueBounds,
)
from service.model.sessions.sessions import MadeView, SessionValues
from service.session_values.session_settings import setting_name, setting_value

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_ENTRY_BYTES = 64
MADE_VIEWS = 20
"""So many views of catalogs are remembered, the latest ones."""


def changed(values: SessionValues, change: SessionChange, bounds: ValueBounds) -> SessionValues:
    """Returns the values after a change.

    >>> changed(SessionValues(), UseSchema("lake", "shop"), ValueBounds()).schema
    'shop'

    Raises:
        SessionSettingRefused: a session may not have the setting, or not this value.
        SessionViewNotFound: it has no view of this name.
        SessionTooLarge: it would have too many views or bytes.
        SqlInvalid: a view of this name exists, or the name is not one.
    """
    match change:
        case PutSettings():
            found = _with_settings(values, change.settings)
        case ResetSetting():
            found = _reset(values, change.name)
        case UseSchema():
            found = replace(values, catalog=change.catalog, schema=change.schema)
        case PutView():
            found = _with_view(values, change)
        case DropView():
            found = _without_view(values, change)
        case NoteMadeView():
            made = (*_made_without(values, change.view.name), change.view)
            found = replace(values, made=made[-MADE_VIEWS:])
        case ForgetMadeView():
            found = replace(values, made=_made_without(values, change.name))
        case _:
            assert_never(change)
    check_values(found, bounds)
    return found


def check_values(values: SessionValues, bounds: ValueBounds) -> None:
    """Checks that the values stay within their bounds.

    Raises:
        SessionTooLarge: they do not.
    """
    if len(values.views) > bounds.max_views:
        raise SessionTooLarge(f"A session has {bounds.max_views} temporary views at most.")
    if values_bytes(values) > bounds.max_bytes:
        raise SessionTooLarge(f"The values of a session take {bounds.max_bytes} bytes at most.")


def values_bytes(values: SessionValues) -> int:
    """Returns about how many bytes the values take where they are stored."""
    texts = [values.catalog or "", values.schema or ""]
    for name, value in values.settings.items():
        texts += [name, value]
    for view in values.views:
        texts += [view.name, view.sql, view.catalog or "", view.schema or ""]
    for made in values.made:
        texts += [*made.name, made.state]
    return sum(len(text.encode()) for text in texts) + _ENTRY_BYTES * (
        len(values.settings) + len(values.views) + len(values.made)
    )


def _made_without(values: SessionValues, name: tuple[str, ...]) -> tuple[MadeView, ...]:
    return tuple(made for made in values.made if made.name != name)


def _with_settings(values: SessionValues, settings: Mapping[str, str]) -> SessionValues:
    checked = {setting_name(name): value for name, value in settings.items()}
    added = {name: setting_value(name, value) for name, value in checked.items()}
    return replace(values, settings={**values.settings, **added})


def _reset(values: SessionValues, name: str | None) -> SessionValues:
    if name is None:
        return replace(values, settings={})
    spelled = setting_name(name)
    return replace(values, settings={key: value for key, value in values.settings.items() if key != spelled})


def _with_view(values: SessionValues, change: PutView) -> SessionValues:
    view = change.view
    if not _NAME.fullmatch(view.name):
        raise SqlInvalid(
            "A temporary view's name has letters, digits and _, does not begin with a digit, and has 128"
            " characters at most."
        )
    before = values.view(view.name)
    if before is None:
        return replace(values, views=(*values.views, view))
    if change.keeps:
        return values
    if not change.replaces:
        raise SqlInvalid(f"The session has a temporary view {before.name}. Write CREATE OR REPLACE.")
    # In its place: views that were made after it may name it.
    return replace(values, views=tuple(view if found is before else found for found in values.views))


def _without_view(values: SessionValues, change: DropView) -> SessionValues:
    before = values.view(change.name)
    if before is None:
        if change.if_exists:
            return values
        raise SessionViewNotFound(f"The session has no temporary view {change.name[:128]}.")
    return replace(values, views=tuple(view for view in values.views if view is not before))
