"""Archives Spark's loaded classes in one file, with which a test session starts in half the time.

A full run starts about fifty JVMs. Without the archive, each of them reads, verifies and links the same
classes. The JVM itself checks that the file matches its version and class path, and ignores the file if it
does not.

Source: application class data sharing (JEP 310, JEP 350).
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
_PATIENCE_S = 600


def _name() -> str:
    """Names the archive by what its class path follows from, as it is of no use with another one."""
    pyspark = distribution("pyspark")
    home = Path(str(pyspark.locate_file("pyspark"))).resolve()
    place = hashlib.sha256(str(home).encode()).hexdigest()[:8]
    return f"test-session-{pyspark.version}-{place}.jsa"


ARCHIVE = REPOSITORY / ".sluice" / _name()


def make_archive(options: str) -> None:
    """Runs a session whose JVM writes the archive at exit. If that fails, tests only take longer."""
    ARCHIVE.parent.mkdir(exist_ok=True)
    unfinished = ARCHIVE.with_suffix(f".{os.getpid()}")
    command = [sys.executable, "-m", "tests.archived_session"]
    # Only Spark's own JVM reads the second one. The first one also reaches its launcher, whose few classes
    # would be archived instead.
    environment = os.environ | {
        "JDK_JAVA_OPTIONS": options,
        "SPARK_SUBMIT_OPTS": f"-XX:ArchiveClassesAtExit={unfinished}",
    }
    try:
        subprocess.run(
            command, cwd=REPOSITORY, env=environment, timeout=_PATIENCE_S, capture_output=True, check=True
        )
        unfinished.rename(ARCHIVE)
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError, FileNotFoundError):
        unfinished.unlink(missing_ok=True)
