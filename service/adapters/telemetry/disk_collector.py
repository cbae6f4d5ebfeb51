"""Space on the disk that the gateway writes to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


@dataclass(frozen=True, slots=True)
class DiskRoom:
    """Bytes of a file system; `free_bytes` are those that this user may write."""

    free_bytes: int
    size_bytes: int


def disk_room(folder: Path) -> DiskRoom:
    """Returns the space of the folder's file system. Blocks if the file system hangs."""
    found = os.statvfs(folder)
    return DiskRoom(found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize)


class DiskCollector(Collector):
    """`room` was sampled some seconds ago; None: it was not sampled yet, or sampling hangs."""

    def __init__(self, room: Callable[[], DiskRoom | None]) -> None:
        self._room = room

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        room = self._room()
        if room is None:
            return
        yield GaugeMetricFamily(
            "sluice_disk_free_bytes",
            "Free space for the gateway's user on the disk of SLUICE_DATA_DIR.",
            room.free_bytes,
        )
        yield GaugeMetricFamily(
            "sluice_disk_size_bytes", "Size of the disk of SLUICE_DATA_DIR.", room.size_bytes
        )
