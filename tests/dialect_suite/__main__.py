"""`python -m tests.dialect_suite [arguments of pytest]`: starts a gateway, runs the suite, and stops it.

With SLUICE_DIALECT_URL, such as `sluice://127.0.0.1:8080/lake/suite`, the gateway of that address is used.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.integration.embedded_catalog import embedded_catalog
from tests.integration.running import REPOSITORY, RunningGateway

HERE = Path(__file__).parent
SCHEMA = "suite"
SCHEMAS = (SCHEMA, "test_schema", "test_schema_2")
SETTINGS = {
    "SLUICE_SPARK_MASTER": "local[2]",
    "SLUICE_SPARK_DRIVER_MEMORY": "1g",
    "SLUICE_SQL_WRITES": "true",
    "SLUICE_SQL_WRITE_TABLES": '["lake.*.*"]',
}


@contextmanager
def served() -> Iterator[str]:
    """Starts a gateway with the schemas of the suite, and returns its address."""
    # Not below the repository: PostgreSQL may run as another user, who has no access to it.
    folder = Path(tempfile.mkdtemp(prefix="sluice-dialect-"))
    gateway = RunningGateway.start(folder, SETTINGS, within_s=500.0)
    try:
        with closing(embedded_catalog(gateway.data_dir)) as lake:
            for name in SCHEMAS:
                lake.create_namespace(name)
        yield gateway.url.replace("http://", "sluice://") + f"/lake/{SCHEMA}"
    finally:
        gateway.stop()
        shutil.rmtree(folder, ignore_errors=True)


def run(address: str, arguments: list[str]) -> int:
    """Runs the suite, and returns the exit code of pytest."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        str(HERE / "setup.cfg"),
        "--dburi",
        address,
        "--dropfirst",
    ]
    return subprocess.run(
        [*command, str(HERE / "suite.py"), *arguments], cwd=REPOSITORY, check=False
    ).returncode


def main() -> int:
    """Returns the exit code of pytest."""
    arguments = sys.argv[1:]
    if address := os.environ.get("SLUICE_DIALECT_URL"):
        return run(address, arguments)
    with served() as address:
        return run(address, arguments)


if __name__ == "__main__":
    sys.exit(main())
