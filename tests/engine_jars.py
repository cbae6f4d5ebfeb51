"""The jars of engines that tests start by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spark_session.jars.compiled_classes import compiled_classes
from spark_session.jars.jars import resolve

ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
JARS = Path(__file__).parents[1] / ".sluice" / "jars"


def engine_jars(packages: Sequence[str] = (ICEBERG,)) -> tuple[str, ...]:
    """Returns the paths of what an engine needs: the packages, and our own classes."""
    jars = resolve(packages, JARS)
    return tuple(map(str, (*jars, compiled_classes(jars, JARS))))
