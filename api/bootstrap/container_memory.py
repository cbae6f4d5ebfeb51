"""The memory that the processes of a container may use together, and the memory that they use.

Source: the kernel's documentation of cgroup v2 and v1, and proc(5).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

_KIB = 1024


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes. Memory that the kernel can reclaim at once does not count as used."""

    used_bytes: int
    limit_bytes: int


@dataclass(frozen=True, slots=True)
class _Group:
    """The files of a cgroup version. `idle` names the memory in `stat` that the kernel can reclaim."""

    used: Path
    limit: Path
    stat: Path
    idle: str


class MemoryCollector(Collector):
    """Reads a few files of the kernel at each scrape; without them, there are no metrics."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        use = memory_use(self._root)
        if use is None:
            return
        yield GaugeMetricFamily(
            "sluice_memory_used_bytes",
            "Memory in use in the container, including Spark's JVM and embedded stores; without a"
            " container, in the machine.",
            use.used_bytes,
        )
        yield GaugeMetricFamily(
            "sluice_memory_limit_bytes",
            "Memory that the container may use; without a limit, the machine's memory.",
            use.limit_bytes,
        )


def memory_use(root: Path) -> MemoryUse | None:
    """Returns the container's memory if it has a limit, else the machine's; None if neither is known."""
    machine = _of_machine(root)
    for group in _groups(root):
        with suppress(OSError, ValueError):
            found = _of_group(group)
            # Without a limit, version 2 says `max`, and version 1 has a number beyond any machine's memory.
            if machine is None or found.limit_bytes < machine.limit_bytes:
                return found
    return machine


def _groups(root: Path) -> Iterable[_Group]:
    top = root / "sys/fs/cgroup"
    for own in (top / _own_group(root), top):
        yield _Group(own / "memory.current", own / "memory.max", own / "memory.stat", "inactive_file")
    old = top / "memory"
    yield _Group(
        old / "memory.usage_in_bytes",
        old / "memory.limit_in_bytes",
        old / "memory.stat",
        "total_inactive_file",
    )


def _own_group(root: Path) -> str:
    """Returns the group of a systemd service; in a container, it is the top group."""
    with suppress(OSError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            if line.startswith("0::/"):
                return line.removeprefix("0::/")
    return ""


def _of_group(group: _Group) -> MemoryUse:
    limit_bytes = int(group.limit.read_text())
    used_bytes = int(group.used.read_text())
    idle_bytes = _named(group.stat).get(group.idle, 0)
    return MemoryUse(max(used_bytes - idle_bytes, 0), limit_bytes)


def _of_machine(root: Path) -> MemoryUse | None:
    try:
        found = _named(root / "proc/meminfo")
        total_bytes = found["MemTotal:"] * _KIB
        return MemoryUse(total_bytes - found["MemAvailable:"] * _KIB, total_bytes)
    except (OSError, KeyError):
        return None


def _named(path: Path) -> dict[str, int]:
    """Reads a file that has a name and a number in each line."""
    words = (line.split() for line in path.read_text().splitlines())
    return {word[0]: int(word[1]) for word in words if len(word) > 1 and word[1].isdigit()}
