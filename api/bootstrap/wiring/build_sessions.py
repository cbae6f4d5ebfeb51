"""Builds the parts of sessions from the settings."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from api.bootstrap.parts.components import Components
from api.bootstrap.settings import Settings
from service.adapters.sessions.postgres_sessions import PostgresSessions, SessionBounds
from service.model.sessions.session_changes import ValueBounds
from service.periodic_worker import PeriodicWorker
from service.session_values.session_settings import ANSI, TIME_ZONE
from service.sessions.session_service import SessionService

_SWEEP_S = 60.0
_SWEPT_WITHIN_S = 2.0


def build_sessions(settings: Settings, components: Components) -> SessionService:
    """Returns the sessions in the metrics store. Unused ones are deleted until the components are closed."""
    bounds = SessionBounds(
        max_of_caller=settings.max_sessions_per_caller,
        max_sessions=settings.max_sessions,
        time_to_live=timedelta(seconds=settings.session_ttl_s),
    )
    store = PostgresSessions(components.migrated_store_url, bounds)
    components.stack.callback(store.close)
    sweep = PeriodicWorker("session-sweep", lambda: _sweep(store), _SWEEP_S, waits_first=True)
    components.stack.callback(sweep.close, _SWEPT_WITHIN_S)
    sweep.start()
    return SessionService(
        store, ValueBounds(max_views=settings.max_session_views, max_bytes=settings.max_session_bytes)
    )


def own_settings(settings: Settings) -> Mapping[str, str]:
    """Returns the engine's settings of this gateway, as far as sessions may have others."""
    own = {ANSI: "true", TIME_ZONE: settings.session_time_zone}
    return own | {name: value for name, value in settings.spark_conf.items() if name in own}


def _sweep(store: PostgresSessions) -> None:
    store.forget_unused()
