"""The memory of each part after all checks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

import psutil

from tests.cluster.findings import Finding
from tests.cluster.place import Place
from tests.integration.running import RunningGateway
from tests.integration.spark_cluster import WORKERS

MIB = 1024**2


def footprints(place: Place) -> Iterator[Finding]:
    """Yields resident memory; that of executors includes their Python processes."""
    for name, gateway in zip(("gateway-1", "gateway-2", "one process"), _gateways(place), strict=True):
        jvm = gateway.jvm()
        of_jvm = [] if jvm is None else [jvm, *jvm.children(recursive=True)]
        readers = [child for child in gateway.children() if child not in of_jvm]
        own = _mib([psutil.Process(gateway.process.pid)])
        yield Finding(
            f"memory of {name}", f"{own} MiB; its JVM {_mib(of_jvm)}, its readers of texts {_mib(readers)}"
        )
    daemons = place.spark.daemons
    yield Finding("memory of Spark's master", f"{_mib([daemons['master']])} MiB")
    for name in WORKERS:
        executors = [child for child in daemons[name].children() if child.name() == "java"]
        each_one = ", ".join(_mib([one, *one.children(recursive=True)]) for one in executors)
        yield Finding(f"memory of {name}", f"{_mib([daemons[name]])} MiB; its executors {each_one}")


def _gateways(place: Place) -> tuple[RunningGateway, ...]:
    return (*place.gateways, place.alone)


def _mib(processes: Iterable[psutil.Process]) -> str:
    found = 0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            found += process.memory_info().rss
    return f"{found / MIB:,.0f}"
