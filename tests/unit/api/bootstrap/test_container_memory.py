"""Memory as the kernel reports it, in a container of cgroup version 1 or 2, in a service, or on a machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from api.bootstrap.container_memory import MemoryCollector, MemoryUse, memory_use

MACHINE = {"proc/meminfo": "MemTotal:        8000 kB\nMemFree:  1000 kB\nMemAvailable:    6000 kB\n"}
GROUP = "sys/fs/cgroup"


def tree(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def of_group(folder: str, limit: str) -> dict[str, str]:
    return {
        f"{folder}/memory.max": limit,
        f"{folder}/memory.current": "3000\n",
        f"{folder}/memory.stat": "anon 1500\ninactive_file 500\n",
    }


def test_a_container_has_its_own_limit_and_what_can_be_taken_back_is_free(tmp_path: Path) -> None:
    root = tree(tmp_path, MACHINE | of_group(GROUP, "4000\n") | {"proc/self/cgroup": "0::/\n"})
    assert memory_use(root) == MemoryUse(used_bytes=2500, limit_bytes=4000)


def test_a_service_has_the_limit_of_its_group(tmp_path: Path) -> None:
    own = f"{GROUP}/system.slice/sluice.service"
    place = {"proc/self/cgroup": "0::/system.slice/sluice.service\n"}
    root = tree(tmp_path, MACHINE | of_group(own, "4000") | place)
    assert memory_use(root) == MemoryUse(2500, 4000)


def test_the_first_version_has_other_names(tmp_path: Path) -> None:
    folder = f"{GROUP}/memory"
    files = {
        f"{folder}/memory.limit_in_bytes": "4000\n",
        f"{folder}/memory.usage_in_bytes": "3000\n",
        f"{folder}/memory.stat": "total_inactive_file 500\n",
    }
    assert memory_use(tree(tmp_path, MACHINE | files)) == MemoryUse(2500, 4000)


def test_without_a_limit_it_is_the_machine(tmp_path: Path) -> None:
    machine = MemoryUse(used_bytes=2000 * 1024, limit_bytes=8000 * 1024)
    assert memory_use(tree(tmp_path, MACHINE | of_group(GROUP, "max\n"))) == machine
    assert memory_use(tree(tmp_path, of_group(GROUP, "9223372036854771712\n"))) == machine


def test_where_nobody_tells_nothing_is_shown(tmp_path: Path) -> None:
    assert memory_use(tmp_path) is None
    assert list(MemoryCollector(tmp_path).collect()) == []
