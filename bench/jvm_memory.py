"""The JVM's memory, as `jcmd` of the same JDK reports it."""

from __future__ import annotations

import re
import shutil
import subprocess

import psutil

_USED = re.compile(r"used (\d+)K")


def has_jcmd() -> bool:
    """Whether the JDK's tool exists; a JRE has none."""
    return shutil.which("jcmd") is not None


def collect_garbage(jvm: psutil.Process) -> None:
    """Makes the JVM collect its garbage; does nothing without `jcmd`."""
    if has_jcmd():
        _jcmd(jvm, "GC.run")


def used_mb(jvm: psutil.Process) -> tuple[float, float] | None:
    """Returns the used megabytes of the heap and of the metaspace; None without `jcmd`."""
    if not has_jcmd():
        return None
    heap, metaspace, *_ = (int(kib) / 1024 for kib in _USED.findall(_jcmd(jvm, "GC.heap_info")))
    return heap, metaspace


def _jcmd(jvm: psutil.Process, command: str) -> str:
    ran = subprocess.run(["jcmd", str(jvm.pid), command], capture_output=True, text=True, check=True)
    return ran.stdout
