"""The Python processes that executors start."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark import SparkContext

from spark_session.settings.settings import is_local

PYTHON = "spark.pyspark.python"


def prepare_workers(context: SparkContext, properties: Mapping[str, str]) -> None:
    """Makes Python workers run with the interpreter that has the gateway's modules.

    Local workers run with this interpreter, wherever it was started from. Only the operator knows a
    cluster's.
    """
    if is_local(properties["spark.master"]):
        context.environment.setdefault("PYTHONPATH", str(Path(__file__).parents[2]))
        context.pythonExec = properties.get(PYTHON, sys.executable)
    elif PYTHON in properties:
        context.pythonExec = properties[PYTHON]
