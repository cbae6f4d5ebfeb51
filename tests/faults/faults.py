"""The faults, the health that the gateway must report for each, and the requests that may wait."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from tests.faults.place import FaultPlace, stopped

FAULT_S = float(os.environ.get("SLUICE_FAULTS_SECONDS", "20"))


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault. `/readyz` must report `parts` as down; the kinds in `unaffected` must still be answered."""

    does: Callable[[FaultPlace], None]
    parts: frozenset[str] = frozenset()
    unaffected: frozenset[str] = frozenset({"livez"})
    waits_s: float = 40


def persist() -> None:
    """Lets the fault last."""
    threading.Event().wait(FAULT_S)


def _stop_database(place: FaultPlace) -> None:
    with stopped(place.of_database()):
        persist()


def _stop_cache(place: FaultPlace) -> None:
    place.cache.pause()
    try:
        persist()
    finally:
        place.cache.resume()


def _stop_jvm(place: FaultPlace) -> None:
    jvm = place.gateway.jvm()
    assert jvm is not None
    with stopped([jvm]):
        persist()


def _stop_readers(place: FaultPlace) -> None:
    with stopped(place.readers()):
        persist()


def _stop_gateway(place: FaultPlace) -> None:
    place.gateway.process.send_signal(signal.SIGSTOP)
    try:
        persist()
    finally:
        place.gateway.process.send_signal(signal.SIGCONT)


@contextmanager
def _lines(place: FaultPlace) -> Iterator[None]:
    try:
        yield
    finally:
        for proxy in (place.to_database, place.to_cache):
            proxy.line.delay_s, proxy.line.bytes_per_s, proxy.line.is_stalled = 0.0, None, False


def _slow_lines(place: FaultPlace) -> None:
    with _lines(place):
        for proxy in (place.to_database, place.to_cache):
            proxy.line.delay_s, proxy.line.bytes_per_s = 0.05, 200_000
        persist()


def _half_open(place: FaultPlace) -> None:
    """Simulates the loss of the other machine: data is lost silently, and later everything is reset."""
    with _lines(place):
        for proxy in (place.to_database, place.to_cache):
            proxy.line.is_stalled = True
        persist()
        for proxy in (place.to_database, place.to_cache):
            proxy.cut()


def _cut(place: FaultPlace) -> None:
    for proxy in (place.to_database, place.to_cache):
        proxy.cut()


STORES = frozenset({"metricsStore", "catalog:lake"})
ALONE = frozenset({"livez", "select 1"})
FAULTS: Mapping[str, Fault] = {
    "PostgreSQL is stopped": Fault(_stop_database, STORES, ALONE),
    "Valkey is stopped": Fault(_stop_cache, frozenset({"filterCache"}), ALONE | {"table", "ingest"}, 10),
    "Spark's JVM is stopped": Fault(_stop_jvm, frozenset({"engine"}), waits_s=FAULT_S + 70),
    "the readers of texts are stopped": Fault(
        _stop_readers, unaffected=ALONE | {"table", "ingest"}, waits_s=10
    ),
    "the gateway itself is stopped": Fault(_stop_gateway, unaffected=frozenset(), waits_s=FAULT_S + 10),
    "slow connections to both stores": Fault(_slow_lines, unaffected=ALONE | {"table", "ingest"}, waits_s=15),
    "half-open connections to both stores": Fault(_half_open, STORES | {"filterCache"}, ALONE),
    "all connections to both stores are cut": Fault(_cut, unaffected=ALONE, waits_s=10),
}
