"""Traces, recorded and sent to a collector if the settings name one; else no exporter is imported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from api.bootstrap.settings import Settings
from service import tracing


@contextmanager
def traced(settings: Settings) -> Iterator[None]:
    """Records this process's steps in the block. At its end, it sends what is left, within a bound."""
    if settings.traces_endpoint is None:
        yield
        return
    # Without traces, the exporter need not be imported.
    from api.bootstrap.tracing.exporting import Exporting

    exporting = Exporting.start(settings)
    tracing.use(exporting.tracer)
    try:
        yield
    finally:
        tracing.use(None)
        exporting.stop(settings.traces_stop_timeout_s)
