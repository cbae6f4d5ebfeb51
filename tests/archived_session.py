"""Runs a Spark session like those of the tests, then lets its JVM exit and archive the classes it loaded."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from py4j.protocol import Py4JError

from api.bootstrap.settings import Settings
from spark_session.session.warm_session import WarmSession
from spark_session.settings.settings import SparkSettings
from tests.engine_jars import engine_jars

PACKAGES: tuple[str, ...] = Settings.model_fields["spark_packages"].default
COMMANDS = (
    "CREATE TABLE lake.s.t (k INT, n STRING) USING iceberg PARTITIONED BY (k)",
    "INSERT INTO lake.s.t VALUES (1, 'a'), (2, 'b')",
    "SELECT t.k, count(*) FROM lake.s.t JOIN lake.s.t u ON t.k = u.k WHERE u.n = 'a' GROUP BY t.k",
)
WITHIN_S = 240


def main() -> None:
    """Runs the commands, and returns when the JVM has ended."""
    with tempfile.TemporaryDirectory() as folder:
        lake = {
            "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.lake.type": "hadoop",
            "spark.sql.catalog.lake.warehouse": f"{folder}/warehouse",
        }
        jars = engine_jars(PACKAGES)
        # Not in an engine, which kills a JVM that does not answer: this one writes for seconds at its exit.
        session = WarmSession.start(
            SparkSettings("local[2]", jars, Path(folder), lake, ("lake",), "lake", "1g")
        )
        for command in COMMANDS:
            session.children._root.sql(command).toArrow()
        with contextlib.suppress(Py4JError, OSError):
            session.jvm.gateway.jvm.System.exit(0)
        session.jvm.process.wait(WITHIN_S)


if __name__ == "__main__":
    main()
