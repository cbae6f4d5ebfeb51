"""Puts the bounds on request bodies around an app: how many bytes, how slowly, how many at once."""

from __future__ import annotations

from fastapi import FastAPI

from api.bootstrap.settings import Settings
from api.http.bodies.body_limit import BodyLimit
from api.http.bodies.body_pace import BodyPace
from api.http.bodies.bytes_in_flight import BodyAccount, BytesInFlight
from api.http.bodies.decoded_body import DecodedBody


def add_body_bounds(app: FastAPI, settings: Settings) -> None:
    """Adds the middleware that bounds bodies. The last one is the outermost."""
    in_memory = _account(settings, settings.max_held_body_bytes, settings.max_body_bytes)
    spooled = _account(settings, settings.ingest_max_spooled_bytes, settings.ingest_max_body_bytes)
    app.add_middleware(BytesInFlight, in_memory=in_memory, spooled=spooled, is_within_decoding=True)
    app.add_middleware(DecodedBody, max_bytes=settings.max_body_bytes)
    app.add_middleware(BytesInFlight, in_memory=in_memory, spooled=spooled)
    app.add_middleware(
        BodyLimit, max_bytes=settings.max_body_bytes, max_records_bytes=settings.ingest_max_body_bytes
    )
    app.add_middleware(
        BodyPace, idle_s=settings.body_idle_timeout_s, min_bytes_per_s=settings.body_min_bytes_per_s
    )


def _account(settings: Settings, max_bytes: int, max_body_bytes: int) -> BodyAccount:
    # Without authentication, all callers count as one.
    share = max(max_bytes // 2, max_body_bytes) if settings.has_authentication else max_bytes
    return BodyAccount(max_bytes, share)
