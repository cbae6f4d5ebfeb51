"""The jars of Kafka's own server, each pinned by its checksum in `jars.sha256`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from spark_session.jars.pinned_jars import pinned_jars

# With these, a server that does not start says why.
_LOGGING = ("slf4j-api-*", "log4j-slf4j2-impl-*")


def kafka_class_path(into: Path) -> str:
    """Fetches the jars into this folder, unless they are there; returns Java's class path."""
    lines = (Path(__file__).parent / "jars.sha256").read_text().splitlines()
    sums = {coordinate: checksum for checksum, coordinate in map(str.split, lines)}
    logging = [jar for pattern in _LOGGING for jar in pyspark_jars().glob(f"{pattern}.jar")]
    return ":".join(str(jar) for jar in (*logging, *pinned_jars(sums, into)))


def pyspark_jars() -> Path:
    """Returns the folder of PySpark's own jars."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "jars"
