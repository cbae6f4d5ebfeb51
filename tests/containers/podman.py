"""podman, configured for the machine that it runs on."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_CAP_SYS_RESOURCE = 24
WITHOUT_LIMITS = Path(__file__).with_name("runc_without_limits")
# The options for production: only the data and temporary files are writable, and no rights can be gained.
HARDENED = ("--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--tmpfs=/tmp:exec,size=1g")


@dataclass(frozen=True, slots=True)
class Podman:
    """The podman command, with the environment that this machine needs."""

    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def on_this_machine(cls, folder: Path) -> Podman:
        """Uses podman as installed if there are systemd and all rights, or else a configuration of ours."""
        lines = []
        if not Path("/run/systemd/system").exists():
            lines += ['cgroup_manager = "cgroupfs"', 'events_logger = "file"']
        if not _may_raise_limits():
            lines += ['runtime = "without-limits"']
            lines += ["[engine.runtimes]", f'without-limits = ["{WITHOUT_LIMITS}"]']
        if not lines:
            return cls()
        configuration = folder / "containers.conf"
        configuration.write_text("\n".join(["[engine]", *lines, ""]))
        return cls({"CONTAINERS_CONF": str(configuration)})

    def run(
        self, *arguments: str, within_s: float = 120, is_checked: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Runs a podman command to its end."""
        ended = subprocess.run(
            ["podman", *arguments],
            env=os.environ | self.environment,
            capture_output=True,
            text=True,
            timeout=within_s,
            check=False,
        )
        assert ended.returncode == 0 or not is_checked, f"{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}"
        return ended

    def inspect(self, container: str) -> dict[str, Any]:
        """Returns podman's description of a container."""
        [found] = json.loads(self.run("inspect", "--type", "container", container).stdout)
        return dict(found)

    @contextmanager
    def volume(self, name: str) -> Iterator[str]:
        """Creates a volume, and removes it at the end."""
        self.run("volume", "rm", "--force", name)
        self.run("volume", "create", name)
        try:
            yield name
        finally:
            self.run("volume", "rm", "--force", name)

    @contextmanager
    def started(self, name: str, *arguments: str) -> Iterator[str]:
        """Runs a container in the background, and removes it at the end."""
        self.run("rm", "--force", "--ignore", name)
        self.run("run", "--detach", f"--name={name}", *arguments)
        try:
            yield name
        finally:
            self.run("rm", "--force", "--ignore", "--time=1", name)


def _may_raise_limits() -> bool:
    status = Path("/proc/self/status").read_text()
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return found is not None and bool(int(found[1], 16) >> _CAP_SYS_RESOURCE & 1)
