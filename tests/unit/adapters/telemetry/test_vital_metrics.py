"""The gateway's health as metrics."""

from __future__ import annotations

from service.adapters.telemetry.query_metrics import QueryMetrics
from service.model.operations.health import PartHealth, PartState, Vitals


def test_what_was_given_up_is_among_the_metrics() -> None:
    engine = PartHealth("engine", PartState.DOWN, given_up_count=3)
    lines = QueryMetrics().exposition({}, Vitals(engine, given_up_workers=4)).decode().splitlines()
    for expected in (
        "sluice_engine_up 0.0",
        "sluice_engine_given_up 3.0",
        "sluice_workers_given_up 4.0",
    ):
        assert expected in lines
