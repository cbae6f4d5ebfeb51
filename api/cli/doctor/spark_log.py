"""Finds in Spark's logs why it did not start. They are read before doctor's folder is removed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from service.model.operations.fault_text import fault_text

LINES = 3
_LAST_BYTES = 64 * 1024


def last_faults(folder: Path) -> Sequence[str]:
    """Returns the last lines about errors, each once, without addresses and secrets; empty if none."""
    lines = [line for name in ("spark.log", "jvm.log") for line in _end_of(folder / name)]
    reporting = [line.strip() for line in lines if " ERROR " in line or line.startswith("Error")]
    reported = [fault_text("Spark", line.partition(" ERROR ")[2] or line) for line in reporting]
    return list(dict.fromkeys(reported))[-LINES:]


def _end_of(path: Path) -> list[str]:
    try:
        return path.read_bytes()[-_LAST_BYTES:].decode(errors="replace").splitlines()
    except OSError:
        return []
