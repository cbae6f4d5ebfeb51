"""The versions of Spark that may run queries here."""

from __future__ import annotations

import re

from service.errors.gateway_error import CannotStart

LINE = (4, 1)
OLDEST = (4, 1, 4)


def check_spark_version(version: str) -> None:
    """Checks that this version of Spark answers queries correctly and fits Iceberg's runtime.

    4.1.0 to 4.1.3 give wrong rows from storage-partitioned joins (SPARK-59050, SPARK-59054).

    Raises:
        CannotStart: it does not.

    >>> check_spark_version("4.1.4")
    >>> check_spark_version("4.1.10-vendor.2")
    """
    found = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
    # A preview comes before the version that it is named for.
    is_preview = re.search(r"preview|SNAPSHOT|rc\d|\.dev|a\d+$|b\d+$", version) is not None
    numbers = tuple(map(int, found.groups())) if found else ()
    if numbers[:2] == LINE and (numbers > OLDEST or (numbers == OLDEST and not is_preview)):
        return
    raise CannotStart(
        f"Spark {version} cannot be used: this gateway needs 4.1.4, or a later 4.1. Earlier ones give wrong "
        "rows from storage-partitioned joins (SPARK-59050, SPARK-59054). Install what the lock file pins, "
        "and unset SPARK_HOME if it points to another Spark."
    )
