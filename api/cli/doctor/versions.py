"""The versions of what works together."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import version

from api.bootstrap.settings import Settings
from api.cli.part_checks import Found, State
from spark_session.settings.spark_version import check_spark_version

_RUNTIME = re.compile(r"org\.apache\.iceberg:iceberg-spark-runtime-(?P<spark>[\d.]+)_[\d.]+:(?P<version>\S+)")


def versions(settings: Settings | None) -> Found:
    """Returns Sluice, Python, Spark, PyIceberg, and Iceberg's runtime as `spark_packages` names it.

    Raises:
        CannotStart: this version of Spark may not run queries here.
    """
    spark = version("pyspark")
    check_spark_version(spark)
    packages = () if settings is None or settings.spark_jars else settings.spark_packages
    runtime = next((found for package in packages if (found := _RUNTIME.fullmatch(package))), None)
    named = {
        "Sluice": version("sluice-gateway"),
        "Python": platform.python_version(),
        "Spark": spark,
        "Iceberg": "of spark_jars" if runtime is None else runtime["version"],
        "PyIceberg": version("pyiceberg"),
    }
    text = ", ".join(f"{name} {number}" for name, number in named.items())
    if runtime is not None and not spark.startswith(f"{runtime['spark']}."):
        reported = f"{text}. Iceberg's runtime is made for Spark {runtime['spark']}."
        return Found(reported, State.WARNING, "Name the runtime for this Spark version in spark_packages.")
    if "SPARK_HOME" in os.environ:
        reported = f"{text}. SPARK_HOME may point to another Spark."
        return Found(reported, State.WARNING, "Unset SPARK_HOME.")
    return Found(text)
